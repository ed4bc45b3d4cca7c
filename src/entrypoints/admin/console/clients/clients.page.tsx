import type { ClientEntity } from '#access/clients/client.entity.js';
import { LinkButton } from '#platform/web/forms/form.js';
import { RecentMoment } from '#platform/web/tables/moment.js';
import { NEXT_PREVIOUS } from '#platform/web/tables/pager.js';
import { Enabled } from '#platform/web/tables/state.js';
import type { FilteredList } from '../filtered-list.js';
import type { ConsolePage } from '../pages/console-layout.js';
import { FilteredTable, Id, NameLink, environmentFilter } from '../pages/lists.js';
import { CLIENTS_PATH, clientPath } from './client-layout.js';

/** The clients, by id, with a search. */
export function clientsPage(list: FilteredList<ClientEntity>): ConsolePage {
  return {
    part: 'clients',
    title: 'Clients',
    actions: <LinkButton href={`${CLIENTS_PATH}/new`}>Create client</LinkButton>,
    children: (
      <FilteredTable
        list={list}
        path={CLIENTS_PATH}
        submit="Search"
        ready={[
          { label: 'Live', set: { environment: 'live' } },
          { label: 'Sandbox', set: { environment: 'sandbox' } },
        ]}
        filter={[
          { name: 'q', label: 'Part of the name, or a client ID' },
          environmentFilter('Live and sandbox'),
        ]}
        caption="Clients"
        empty={
          Object.keys(list.filter).length === 0
            ? 'There are no clients yet. Create the first one.'
            : 'No clients match.'
        }
        labels={NEXT_PREVIOUS}
        columns={[
          {
            head: 'Name',
            cell: ({ id, name, environment }) => (
              <NameLink href={clientPath(id)} name={name} environment={environment} />
            ),
          },
          // What partners ask by.
          { head: 'ID', cell: ({ id }) => <Id id={id} />, onPhone: 'unfolded' },
          { head: 'Type', cell: ({ type }) => type },
          { head: 'State', cell: ({ enabled }) => <Enabled enabled={enabled} />, onPhone: 'beside' },
          { head: 'Created', cell: ({ createdAt }) => <RecentMoment at={createdAt} /> },
        ]}
      />
    ),
  };
}
