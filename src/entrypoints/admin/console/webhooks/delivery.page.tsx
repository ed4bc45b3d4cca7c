import { Facts } from '#platform/web/tables/facts.js';
import { PostButton } from '#platform/web/forms/form.js';
import { Json } from '#platform/web/tables/json.js';
import { ExactMoment } from '#platform/web/tables/moment.js';
import { ErrorNotice } from '#platform/web/layout/notices.js';
import { AddressLink } from '#platform/web/tables/address-link.js';
import { Table } from '#platform/web/tables/table.js';
import type { DeliveryDetail } from '#events/webhooks/deliveries/delivery.js';
import { BatchList } from '#events/webhooks/batches/batch-list.js';
import { outcomeText } from '#events/webhooks/deliveries/failure-messages.js';
import type { ConsolePage } from '../pages/console-layout.js';
import { Id, Party, type PartyNames } from '../pages/lists.js';
import { DeliverySummary } from '#events/webhooks/deliveries/delivery-summary.js';
import type { FieldErrors } from '#platform/web/forms/field.js';
import { DELIVERIES_PATH, deliveryPath, endpointPath } from '../pages/resource-link.js';

export interface DeliveryPageProps {
  delivery: DeliveryDetail;
  /** Of its client and user. */
  names: PartyNames;
  errors?: FieldErrors;
}

/** One delivery with its payload and all attempts. */
export function deliveryPage({ delivery, names, errors }: DeliveryPageProps): ConsolePage {
  const { id, finishedAt, userId, attemptList } = delivery;
  return {
    part: 'deliveries',
    title: delivery.eventType,
    above: [{ href: DELIVERIES_PATH, label: 'Deliveries' }],
    actions: <PostButton action={deliveryPath(id, 'resend')}>Resend</PostButton>,
    children: (
      <>
        {errors && <ErrorNotice>{Object.values(errors).flat().join(' ')}</ErrorNotice>}
        <DeliverySummary delivery={delivery} />
        <Facts
          facts={[
            ['ID', <Id id={id} />],
            [
              'Endpoint',
              <AddressLink href={endpointPath(delivery.endpointId)} address={delivery.endpointUrl} />,
            ],
            ['Client', <Party id={delivery.clientId} names={names} />],
            [
              'User',
              userId ? <Party id={userId} names={names} /> : (delivery.isTest && 'none (test)') || 'erased',
            ],
            ['Created', <ExactMoment at={delivery.createdAt} />],
            finishedAt && ['Finished', <ExactMoment at={finishedAt} />],
          ]}
        />
        <h2>Attempts</h2>
        {attemptList.length === 0 ? (
          <p class="empty">No attempts yet.</p>
        ) : (
          <Table
            caption="Attempts"
            rows={attemptList}
            columns={[
              { head: 'Attempt', cell: ({ number }) => number },
              { head: 'Time', cell: ({ attemptedAt }) => <ExactMoment at={attemptedAt} /> },
              {
                head: 'Response',
                cell: (attempt) => attempt.status ?? outcomeText(attempt),
                under: (attempt) =>
                  (attempt.detail ?? attempt.responseStart ?? attempt.batch) && (
                    <>
                      {attempt.detail} {attempt.responseStart && <code>{attempt.responseStart}</code>}
                      <BatchList attempt={attempt} deliveryId={id} pathOf={deliveryPath} />
                    </>
                  ),
              },
              {
                head: 'Duration',
                isNumber: true,
                cell: ({ durationMs }) => `${durationMs} ms`,
                onPhone: 'unfolded',
              },
            ]}
            unfolds
          />
        )}
        <h2>Payload</h2>
        {delivery.payload === null ? (
          <p class="empty">The user was erased, and the payload with the account.</p>
        ) : (
          <Json text={delivery.payload} />
        )}
      </>
    ),
  };
}
