import { SelectField, TextField } from '../../../web/forms/field.js';
import { LinkButton } from '../../../web/forms/form.js';
import { ExactMoment } from '../../../web/tables/moment.js';
import { NEXT_PREVIOUS } from '../../../web/tables/pager.js';
import { Enabled } from '../../../web/tables/state.js';
import { OPERATOR_ROLES } from '../../../config/operator-role.js';
import type { UserEntity } from '../../../users/accounts/user.entity.js';
import type { FilteredList } from '../filtered-list.js';
import type { ConsolePage } from '../pages/console-layout.js';
import { EnvironmentFilter } from '../pages/environment.js';
import { FilteredTable, NameLink } from '../pages/lists.js';
import { INVITATIONS_PATH } from './operator-invitations.pages.js';
import { USERS_PATH, userPath } from './user-layout.js';

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
        filter={
          <>
            <TextField name="q" label="Part of the name or email, or an ID" />
            <SelectField
              name="operator_role"
              label="Operators"
              options={[
                { value: '', label: 'Everybody' },
                ...OPERATOR_ROLES.map((value) => ({ value, label: `Operators: ${value}` })),
              ]}
            />
            <EnvironmentFilter all="Live" />
          </>
        }
        caption="Users"
        empty="No users match."
        labels={NEXT_PREVIOUS}
        columns={[
          {
            head: 'Name',
            cell: ({ id, name, email, environment }) => (
              <>
                <NameLink href={userPath(id)} name={name} environment={environment} />
                <bdi class="under muted">{email}</bdi>
              </>
            ),
          },
          { head: 'Kind', cell: ({ kind }) => kind },
          { head: 'Role', cell: ({ role, operatorRole }) => operatorRole ?? role },
          { head: 'State', cell: ({ enabled }) => <Enabled enabled={enabled} /> },
          { head: 'Created', cell: ({ createdAt }) => <ExactMoment at={createdAt} /> },
        ]}
      />
    ),
  };
}
