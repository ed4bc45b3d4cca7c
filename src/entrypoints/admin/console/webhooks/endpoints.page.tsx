import { formatCount } from '#platform/web/charts/numbers.js';
import { AddressLink } from '#platform/web/tables/address-link.js';
import type { VNode } from 'preact';
import type { Option } from '#platform/web/forms/field.js';
import { LinkButton } from '#platform/web/forms/form.js';
import { RecentMoment } from '#platform/web/tables/moment.js';
import { NEXT_PREVIOUS } from '#platform/web/tables/pager.js';
import { State } from '#platform/web/tables/state.js';
import { healthOf, type EndpointInList } from '#events/webhooks/endpoints/endpoint-health.js';
import type { ListedEndpoint } from '#events/webhooks/endpoints/endpoint.resource.js';
import { clientPath } from '../clients/client-layout.js';
import type { FilteredList } from '../filtered-list.js';
import type { ConsolePage } from '../pages/console-layout.js';
import { FilteredTable, NameLink, pickFilter, stateFilter } from '../pages/lists.js';
import { ENDPOINTS_PATH, endpointPath } from '../pages/resource-link.js';

/** The endpoints of all clients, with the results of their deliveries within a day. */
export function endpointsPage(list: FilteredList<EndpointInList>, clients: Option[]): ConsolePage {
  const clientId = list.filter['client_id'];
  return {
    part: 'endpoints',
    title: 'Endpoints',
    actions: clientId && !list.errors && (
      <LinkButton href={clientPath(clientId, 'endpoints/new')}>Add endpoint</LinkButton>
    ),
    children: (
      <FilteredTable
        list={list}
        path={ENDPOINTS_PATH}
        ready={[
          { label: 'Failing', set: { state: 'failing' } },
          { label: 'Disabled', set: { state: 'disabled' } },
        ]}
        filter={[
          pickFilter('client_id', 'Client', clients),
          stateFilter(['failing', 'disabled'], (state) => (state === 'failing' ? 'Failing' : 'Disabled')),
        ]}
        caption="Endpoints"
        empty={Object.keys(list.filter).length > 0 ? 'No endpoints match.' : 'There are no endpoints yet.'}
        labels={NEXT_PREVIOUS}
        columns={[
          {
            head: 'Endpoint',
            cell: ({ id, url, description }) => (
              <>
                <AddressLink href={endpointPath(id)} address={url} />{' '}
                {description && <bdi class="muted">{description}</bdi>}
              </>
            ),
          },
          {
            head: 'Client',
            cell: ({ clientId: owner, clientName, environment }) => (
              <NameLink href={clientPath(owner)} name={clientName} environment={environment} />
            ),
          },
          { head: 'State', cell: (endpoint) => <EndpointState endpoint={endpoint} />, onPhone: 'beside' },
          {
            head: 'Delivered in 24 h',
            isNumber: true,
            cell: ({ delivered24h }) => formatCount(delivered24h),
            onPhone: 'unfolded',
          },
          {
            head: 'Failed in 24 h',
            isNumber: true,
            cell: ({ failed24h }) => formatCount(failed24h),
            onPhone: 'unfolded',
          },
          {
            head: 'Last attempt',
            cell: ({ lastAttemptAt }) => (lastAttemptAt ? <RecentMoment at={lastAttemptAt} /> : 'never'),
          },
        ]}
      />
    ),
  };
}

/** The state of an endpoint and, if the service disabled it, the reason. */
export function EndpointState({ endpoint }: { endpoint: ListedEndpoint }): VNode {
  const { label, tone, reason } = healthOf(endpoint);
  return <State tone={tone}>{reason === undefined ? label : `${label}: ${reason}`}</State>;
}
