import { LinkButton } from '#platform/web/forms/form.js';
import { RecentMoment } from '#platform/web/tables/moment.js';
import type { ReadyFilter } from '#platform/web/tables/ready-filters.js';
import { NEXT_PREVIOUS } from '#platform/web/tables/pager.js';
import { Enabled } from '#platform/web/tables/state.js';
import { OPERATOR_ROLES } from '#platform/config/operator-role.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import type { FilteredList } from '../filtered-list.js';
import type { ConsolePage } from '../pages/console-layout.js';
import { FilteredTable, NameLink, stateFilter, environmentFilter } from '../pages/lists.js';
import { INVITATIONS_PATH } from './operator-invitations.pages.js';
import { USERS_PATH, userPath } from './user-layout.js';

const READY: ReadyFilter[] = [
  { label: 'Admins', set: { operator_role: 'admin' } },
  { label: 'Support', set: { operator_role: 'support' } },
  { label: 'Viewers', set: { operator_role: 'viewer' } },
  { label: 'Disabled', set: { state: 'disabled' } },
];

/** The users, by id, with a search. */
export function usersPage(list: FilteredList<UserEntity>): ConsolePage {
  return {
    part: 'users',
    title: 'Users',
    actions: (
      <>
        <LinkButton look="quiet" href={INVITATIONS_PATH}>
          Operator invitations
        </LinkButton>
        <LinkButton href={`${USERS_PATH}/new`}>Create user</LinkButton>
      </>
    ),
    children: (
      <FilteredTable
        list={list}
        path={USERS_PATH}
        csvPath={`${USERS_PATH}/csv`}
        submit="Search"
        ready={READY}
        filter={[
          { name: 'q', label: 'Part of the name or email, or an ID' },
          {
            name: 'operator_role',
            label: 'Operators',
            options: [
              { value: '', label: 'Everybody' },
              ...OPERATOR_ROLES.map((value) => ({ value, label: `Operators: ${value}` })),
            ],
          },
          stateFilter(['disabled'], () => 'Disabled'),
          environmentFilter('Live'),
        ]}
        caption="Users"
        empty="No users match."
        labels={NEXT_PREVIOUS}
        columns={[
          {
            head: 'Name',
            cell: ({ id, name, environment }) => (
              <NameLink href={userPath(id)} name={name} environment={environment} />
            ),
          },
          { head: 'Email', cell: ({ email }) => <bdi>{email}</bdi> },
          { head: 'Kind', cell: ({ kind }) => kind, onPhone: 'unfolded' },
          { head: 'Role', cell: ({ role, operatorRole }) => operatorRole ?? role },
          { head: 'State', cell: ({ enabled }) => <Enabled enabled={enabled} />, onPhone: 'beside' },
          { head: 'Created', cell: ({ createdAt }) => <RecentMoment at={createdAt} /> },
        ]}
      />
    ),
  };
}
