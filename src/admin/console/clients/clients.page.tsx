import type { ClientEntity } from '../../../clients/client.entity.js';
import { ExactMoment } from '../../../http/pages/moment.js';
import type { Page } from '../../../http/paging.js';
import type { FieldErrors } from '../form-attempt.js';
import type { UserLayoutProps } from '../../../users/user-page-context.js';
import { renderConsolePage } from '../pages/console-layout.js';
import { TextField } from '../pages/form-fields.js';
import { Enabled, FilterForm, NEXT_PREVIOUS, PagedTable, pathWith } from '../pages/lists.js';
import { CLIENTS_PATH, clientPath } from './client-layout.js';

export interface ClientsPageProps {
  layoutProps: UserLayoutProps;
  page: Page<ClientEntity>;
  q: string | undefined;
  errors?: FieldErrors;
}

/** The clients, by id, with a search. */
export function clientsPage({ layoutProps, page, q, errors }: ClientsPageProps): string {
  return renderConsolePage({
    layoutProps,
    part: 'clients',
    title: 'Clients',
    actions: (
      <a class="button-link" href={`${CLIENTS_PATH}/new`}>
        Create client
      </a>
    ),
    children: (
      <>
        <FilterForm path={CLIENTS_PATH} submit="Search" isFiltered={q !== undefined} errors={errors}>
          <TextField name="q" label="Part of the name, or a client ID" value={q} errors={errors} />
        </FilterForm>
        {!errors && (
          <PagedTable
            caption="Clients"
            page={page}
            idOf={({ id }) => id}
            path={pathWith(CLIENTS_PATH, { q })}
            empty={q === undefined ? 'There are no clients yet. Create the first one.' : 'No clients match.'}
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
              { head: 'Created', cell: ({ createdAt }) => <ExactMoment at={createdAt} /> },
            ]}
          />
        )}
      </>
    ),
  });
}
