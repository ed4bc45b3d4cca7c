import type { VNode } from 'preact';
import { RecentMoment } from '#platform/web/tables/moment.js';
import { Table, type Column } from '#platform/web/tables/table.js';
import type { Delivery } from '#events/webhooks/deliveries/delivery.js';
import { DeliveryStateBadge } from '#events/webhooks/deliveries/delivery-state.js';
import { withQuery } from './delivery-query.js';
import { lastOutcome } from '#events/webhooks/deliveries/failure-messages.js';

export interface DeliveryRowsProps {
  /** What they are, for screen readers. */
  caption?: string;
  deliveries: Delivery[];
  /** Whether to show each delivery's endpoint. */
  withEndpoint: boolean;
  /** The place in the list, for the link back. */
  place: string;
  /** The form that submits chosen rows. */
  chosenFor?: string;
}

/** A list of deliveries, each with a link to its page. */
export function DeliveryRows({
  caption = 'Deliveries',
  deliveries,
  withEndpoint,
  place,
  chosenFor,
}: DeliveryRowsProps): VNode {
  return (
    <Table
      caption={caption}
      rows={deliveries}
      keyOf={({ id }) => id}
      isOneLine
      columns={[
        {
          head: 'Event',
          cell: (delivery) => (
            <>
              {chosenFor && <Choice delivery={delivery} form={chosenFor} />}
              <a class="whole" href={withQuery(`/portal/deliveries/${delivery.id}`, place)}>
                {delivery.eventType}
                {delivery.isTest && ' (test)'}
              </a>
            </>
          ),
        },
        { head: 'State', cell: ({ state }) => <DeliveryStateBadge state={state} />, onPhone: 'beside' },
        {
          head: 'Last response',
          cell: (delivery) =>
            lastOutcome(delivery) + (delivery.attempts > 1 ? `, ${delivery.attempts} attempts` : ''),
        },
        ...(withEndpoint ? [ENDPOINT] : []),
        { head: 'Created', cell: ({ createdAt }) => <RecentMoment at={createdAt} /> },
      ]}
    />
  );
}

const ENDPOINT: Column<Delivery> = {
  head: 'Endpoint',
  cell: ({ endpointUrl }) => <bdi class="url">{endpointUrl}</bdi>,
  onPhone: 'unfolded',
};

const Choice = ({ delivery: { id, eventType }, form }: { delivery: Delivery; form: string }): VNode => (
  <label class="row-choice">
    <input type="checkbox" name="delivery" value={id} form={form} autocomplete="off" />
    <span class="visually-hidden">
      Choose {eventType} {id}
    </span>
  </label>
);
