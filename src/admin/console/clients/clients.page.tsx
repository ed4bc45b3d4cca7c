import type { ClientEntity } from '../../../clients/client.entity.js';
import { ExactMoment } from '../../../http/pages/moment.js';
import type { Page } from '../../../http/paging.js';
import { renderConsolePage, type ConsoleFrame } from '../pages/console-layout.js';
import { TextField } from '../pages/form-fields.js';
import { Enabled, FilterForm, NEXT_PREVIOUS, PagedTable, pathWith } from '../pages/lists.js';
import { CLIENTS_PATH, clientPath } from './client-frame.js';

export interface ClientsPageProps {
  frame: ConsoleFrame;
  page: Page<ClientEntity>;
  q: string | undefined;
}

/** The clients, by id, and a search among them. */
export function clientsPage({ frame, page, q }: ClientsPageProps): string {
  return renderConsolePage({
    frame,
    part: 'clients',
    title: 'Clients',
    actions: (
      <a class="button-link" href={`${CLIENTS_PATH}/new`}>
        Register a client
      </a>
    ),
    children: (
      <>
        <FilterForm path={CLIENTS_PATH} submit="Search" isFiltered={q !== undefined}>
          <TextField name="q" label="Part of the name, or a client id" value={q} />
        </FilterForm>
        <PagedTable
          caption="Clients"
          page={page}
          idOf={({ id }) => id}
          path={pathWith(CLIENTS_PATH, { q })}
          empty={q === undefined ? 'There is no client yet. Register the first.' : 'No client matches.'}
          words={NEXT_PREVIOUS}
          columns={[
            {
              head: 'Name',
              cell: ({ id, name }) => (
                <>
                  <a href={clientPath(id)}>
                    <bdi>{name}</bdi>
                  </a>
                  <code class="id under">{id}</code>
                </>
              ),
            },
            { head: 'Type', cell: ({ type }) => type },
            { head: 'State', cell: ({ enabled }) => <Enabled enabled={enabled} /> },
            { head: 'Made', cell: ({ createdAt }) => <ExactMoment at={createdAt} /> },
          ]}
        />
      </>
    ),
  });
}
