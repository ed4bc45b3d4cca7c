import { ExactMoment } from '../../../http/pages/moment.js';
import type { Page } from '../../../http/paging.js';
import type { UserEntity } from '../../../users/user.entity.js';
import type { FieldErrors } from '../form-attempt.js';
import type { UserLayoutProps } from '../../../users/user-page-context.js';
import { renderConsolePage } from '../pages/console-layout.js';
import { TextField } from '../pages/form-fields.js';
import { Enabled, FilterForm, NEXT_PREVIOUS, PagedTable, pathWith } from '../pages/lists.js';
import { USERS_PATH, userPath } from './user-layout.js';

export interface UsersPageProps {
  layoutProps: UserLayoutProps;
  page: Page<UserEntity>;
  q: string | undefined;
  errors?: FieldErrors;
}

/** The users, by id, with a search. */
export function usersPage({ layoutProps, page, q, errors }: UsersPageProps): string {
  return renderConsolePage({
    layoutProps,
    part: 'users',
    title: 'Users',
    actions: (
      <a class="button-link" href={`${USERS_PATH}/new`}>
        Create user
      </a>
    ),
    children: (
      <>
        <FilterForm path={USERS_PATH} submit="Search" isFiltered={q !== undefined} errors={errors}>
          <TextField name="q" label="Part of the name or email, or an ID" value={q} errors={errors} />
        </FilterForm>
        {!errors && (
          <PagedTable
            caption="Users"
            page={page}
            idOf={({ id }) => id}
            path={pathWith(USERS_PATH, { q })}
            empty="No users match."
            words={NEXT_PREVIOUS}
            columns={[
              {
                head: 'Name',
                cell: ({ id, name, email }) => (
                  <>
                    <a href={userPath(id)}>
                      <bdi>{name}</bdi>
                    </a>
                    <bdi class="under muted">{email}</bdi>
                  </>
                ),
              },
              { head: 'Kind', cell: ({ kind }) => kind },
              { head: 'Role', cell: ({ role }) => role },
              { head: 'State', cell: ({ enabled }) => <Enabled enabled={enabled} /> },
              { head: 'Created', cell: ({ createdAt }) => <ExactMoment at={createdAt} /> },
            ]}
          />
        )}
      </>
    ),
  });
}
