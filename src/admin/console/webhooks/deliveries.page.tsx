import type { VNode } from 'preact';
import { TextField } from '../../../web/forms/field.js';
import { ExactMoment } from '../../../web/tables/moment.js';
import { LIVE_LIST_SCRIPT } from '../../../web/tables/live-list.js';
import { State } from '../../../web/tables/state.js';
import type { Column } from '../../../web/tables/table.js';
import { DELIVERY_STATES, type Delivery } from '../../../webhooks/deliveries/delivery.js';
import { clientPath } from '../clients/client-layout.js';
import type { FilteredList } from '../filtered-list.js';
import type { ConsolePage } from '../pages/console-layout.js';
import { FilteredTable, StateFilter } from '../pages/lists.js';
import { DELIVERIES_PATH, deliveryPath, endpointPath } from './endpoint-paths.js';

/** The deliveries of all clients, newest first. */
export function deliveriesPage(list: FilteredList<Delivery>, url: string): ConsolePage {
  return {
    part: 'deliveries',
    title: 'Deliveries',
    scripts: [LIVE_LIST_SCRIPT],
    children: (
      <FilteredTable
        list={list}
        path={DELIVERIES_PATH}
        livePath={url}
        csvPath={`${DELIVERIES_PATH}/csv`}
        filter={
          <>
            <TextField name="client_id" label="Client ID" />
            <TextField name="endpoint_id" label="Endpoint ID" />
            <StateFilter states={DELIVERY_STATES} labelOf={(state) => state} />
            <TextField name="from" label="From (UTC)" />
            <TextField name="to" label="Until (UTC)" />
          </>
        }
        caption="Deliveries"
        empty={Object.keys(list.filter).length > 0 ? 'No deliveries match.' : 'No deliveries yet.'}
        columns={deliveryColumns}
      />
    ),
  };
}

/** The columns of a list of deliveries. */
export const deliveryColumns: Column<Delivery>[] = [
  {
    head: 'Event',
    cell: ({ id, eventType, isTest }) => (
      <>
        <a class="whole" href={deliveryPath(id)}>
          {eventType}
        </a>
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
];

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
