import type { VNode } from 'preact';
import { ExactMoment } from '../../../http/pages/moment.js';
import type { Page } from '../../../http/paging.js';
import type { DeliveryFilter } from '../../../webhooks/deliveries/deliveries.repository.js';
import { DELIVERY_STATES, type Delivery } from '../../../webhooks/deliveries/delivery.js';
import { clientPath } from '../clients/client-layout.js';
import type { FieldErrors } from '../form-attempt.js';
import type { UserLayoutProps } from '../../../users/user-page-context.js';
import { renderConsolePage } from '../pages/console-layout.js';
import { SelectField, TextField } from '../pages/form-fields.js';
import { FilterForm, PagedTable, pathWith, State } from '../pages/lists.js';
import { DELIVERIES_PATH, deliveryPath, endpointPath } from './endpoint-paths.js';

export interface DeliveriesPageProps {
  layoutProps: UserLayoutProps;
  filter: DeliveryFilter;
  page: Page<Delivery>;
  errors?: FieldErrors;
}

/** The deliveries of all clients, newest first. */
export function deliveriesPage({ layoutProps, filter, page, errors }: DeliveriesPageProps): string {
  const { clientId, endpointId, state } = filter;
  const isFiltered = !!clientId || !!endpointId || !!state;
  return renderConsolePage({
    layoutProps,
    part: 'deliveries',
    title: 'Deliveries',
    children: (
      <>
        <FilterForm path={DELIVERIES_PATH} isFiltered={isFiltered} errors={errors}>
          <TextField name="client_id" label="Client ID" value={clientId} errors={errors} />
          <TextField name="endpoint_id" label="Endpoint ID" value={endpointId} errors={errors} />
          <SelectField
            name="state"
            label="State"
            value={state ?? ''}
            options={[
              { value: '', label: 'All' },
              ...DELIVERY_STATES.map((value) => ({ value, label: value })),
            ]}
            errors={errors}
          />
        </FilterForm>
        {!errors && (
          <PagedTable
            caption="Deliveries"
            page={page}
            idOf={({ id }) => id}
            path={pathWith(DELIVERIES_PATH, { client_id: clientId, endpoint_id: endpointId, state })}
            empty={isFiltered ? 'No deliveries match.' : 'No deliveries yet.'}
            columns={[
              {
                head: 'Event',
                cell: ({ id, eventType, isTest }) => (
                  <>
                    <a href={deliveryPath(id)}>{eventType}</a>
                    {isTest && <span class="under muted">test</span>}
                  </>
                ),
              },
              { head: 'State', cell: (delivery) => <DeliveryStateWord delivery={delivery} /> },
              {
                head: 'Endpoint',
                cell: ({ endpointId: to, endpointUrl, clientId: of }) => (
                  <>
                    <a href={endpointPath(to)}>{endpointUrl}</a>
                    <a class="under" href={clientPath(of)}>
                      <code class="id">{of}</code>
                    </a>
                  </>
                ),
              },
              { head: 'Last response', cell: (delivery) => <LastAnswer delivery={delivery} /> },
              { head: 'Attempts', isNumber: true, cell: ({ attempts }) => attempts },
              { head: 'Created', cell: ({ createdAt }) => <ExactMoment at={createdAt} /> },
            ]}
          />
        )}
      </>
    ),
  });
}

const TONES = { pending: 'warn', delivered: 'good', failed: 'bad', cancelled: 'plain' } as const;

/** The state and, if it was cancelled, the reason. */
export function DeliveryStateWord({ delivery: { state, cancelReason } }: { delivery: Delivery }): VNode {
  return (
    <>
      <State tone={TONES[state]}>{state}</State>
      {cancelReason && <span class="under muted">{cancelReason.replaceAll('_', ' ')}</span>}
    </>
  );
}

function LastAnswer({ delivery: { lastStatus, lastFailure, attempts } }: { delivery: Delivery }): VNode {
  if (attempts === 0) return <span class="muted">no attempts yet</span>;
  return <>{lastStatus ?? lastFailure?.replaceAll('_', ' ') ?? 'unknown'}</>;
}
