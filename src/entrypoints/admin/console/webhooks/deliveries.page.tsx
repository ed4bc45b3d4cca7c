import { timeField, type Option } from '#platform/web/forms/field.js';
import { AddressLink } from '#platform/web/tables/address-link.js';
import { RecentMoment } from '#platform/web/tables/moment.js';
import { LIVE_LIST_SCRIPT } from '#platform/web/tables/live-list.js';
import type { Column } from '#platform/web/tables/table.js';
import { DELIVERY_STATES, type Delivery } from '#events/webhooks/deliveries/delivery.js';
import { DeliveryStateBadge, STATE_LABELS } from '#events/webhooks/deliveries/delivery-state.js';
import { lastOutcome } from '#events/webhooks/deliveries/failure-messages.js';
import { clientPath } from '../clients/client-layout.js';
import type { FilteredList } from '../filtered-list.js';
import type { ConsolePage } from '../pages/console-layout.js';
import { FilteredTable, NameLink, pickFilter, stateFilter, type PartyNames } from '../pages/lists.js';
import { DELIVERIES_PATH, deliveryPath, endpointPath } from '../pages/resource-link.js';

export interface DeliveriesPageProps {
  list: FilteredList<Delivery>;
  url: string;
  /** Of the clients. */
  names: PartyNames;
  offers: { clients: Option[]; endpoints: Option[]; types: Option[] };
}

/** The deliveries of all clients, newest first. */
export function deliveriesPage({ list, url, names, offers }: DeliveriesPageProps): ConsolePage {
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
        ready={[
          { label: 'Failed', set: { state: 'failed' } },
          { label: 'Pending', set: { state: 'pending' } },
        ]}
        filter={[
          pickFilter('client_id', 'Client', offers.clients),
          pickFilter('endpoint_id', 'Endpoint', offers.endpoints),
          stateFilter(DELIVERY_STATES, (state) => STATE_LABELS[state]),
          pickFilter('type', 'Event type', offers.types),
          timeField('from', 'From (UTC)'),
          timeField('to', 'Until (UTC)'),
        ]}
        caption="Deliveries"
        empty={Object.keys(list.filter).length > 0 ? 'No deliveries match.' : 'No deliveries yet.'}
        columns={deliveryColumns(names)}
      />
    ),
  };
}

/** The columns of a list of deliveries. */
export const deliveryColumns = (names: PartyNames): Column<Delivery>[] => [
  {
    head: 'Event',
    cell: ({ id, eventType, isTest }) => (
      <a class="whole" href={deliveryPath(id)}>
        {eventType}
        {isTest && ' (test)'}
      </a>
    ),
  },
  {
    head: 'State',
    cell: ({ state }) => <DeliveryStateBadge state={state} />,
    onPhone: 'beside',
  },
  {
    head: 'Endpoint',
    cell: ({ endpointId: to, endpointUrl }) => <AddressLink href={endpointPath(to)} address={endpointUrl} />,
  },
  {
    head: 'Client',
    cell: ({ clientId }) => <NameLink href={clientPath(clientId)} name={names.get(clientId) ?? clientId} />,
    onPhone: 'unfolded',
  },
  {
    head: 'Last response',
    cell: (delivery) =>
      delivery.cancelReason?.replaceAll('_', ' ') ??
      lastOutcome(delivery) + (delivery.attempts > 1 ? `, ${delivery.attempts} attempts` : ''),
  },
  { head: 'Created', cell: ({ createdAt }) => <RecentMoment at={createdAt} /> },
];
