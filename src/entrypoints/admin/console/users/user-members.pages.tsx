import { type Member, MEMBER_ROLES } from '#events/partners/members/member.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { SelectField, TextField, type Option, type FieldErrors } from '#platform/web/forms/field.js';
import { LinkButton } from '#platform/web/forms/form.js';
import { RecentMoment } from '#platform/web/tables/moment.js';
import { Table } from '#platform/web/tables/table.js';
import { ActionConfirmation } from '../pages/disconnection.js';
import { ConsoleForm } from '../pages/console-form.js';
import type { ConsolePage } from '../pages/console-layout.js';
import { NameLink, RowLink } from '../pages/lists.js';
import { aboutUser, userPath } from './user-layout.js';

/** The people who belong to an organisation. */
export const userMembersPage = ({ user, members }: { user: UserEntity; members: Member[] }): ConsolePage =>
  aboutUser(user, {
    current: 'members',
    actions:
      user.kind === 'organisation' ? (
        <LinkButton href={userPath(user.id, 'members/new')}>Add member</LinkButton>
      ) : undefined,
    children:
      members.length === 0 ? (
        <p class="empty">
          {user.kind === 'organisation'
            ? 'This organisation has no members but its own account.'
            : 'Only organisations have members.'}
        </p>
      ) : (
        <Table
          caption="Members"
          rows={members}
          columns={[
            { head: 'Name', cell: ({ userId, name }) => <NameLink href={userPath(userId)} name={name} /> },
            { head: 'Email', cell: ({ email }) => <bdi>{email}</bdi>, onPhone: 'unfolded' },
            { head: 'Role', cell: ({ role }) => role },
            { head: 'Added', cell: ({ createdAt }) => <RecentMoment at={createdAt} /> },
            {
              head: 'Actions',
              cell: ({ userId, name }) => (
                <>
                  <RowLink href={`${userPath(user.id, 'members/new')}?user=${userId}`} about={`of ${name}`}>
                    Change role
                  </RowLink>{' '}
                  <RowLink href={userPath(user.id, `members/${userId}/remove`)} about={name}>
                    Remove
                  </RowLink>
                </>
              ),
              leadsTo: ({ userId }) => ['GET', userPath(user.id, `members/${userId}/remove`)],
              onPhone: 'at-end',
            },
          ]}
        />
      ),
  });

export interface NewMemberPageProps {
  user: UserEntity;
  typed: { user: string; role: string };
  users: Option[];
  errors?: FieldErrors;
}

/** The form that adds a member, or gives one another role. */
export const newMemberPage = ({ user, typed, users, errors }: NewMemberPageProps): ConsolePage =>
  aboutUser(user, {
    title: 'Add member',
    children: (
      <ConsoleForm
        action={userPath(user.id, 'members/new')}
        values={typed}
        errors={errors}
        submit="Save"
        cancel={userPath(user.id, 'members')}
      >
        <TextField name="user" label="User" hint="The email address or the ID." offers={users} required />
        <SelectField
          name="role"
          label="Role"
          options={MEMBER_ROLES.map((value) => ({ value, label: value }))}
        />
      </ConsoleForm>
    ),
  });

/** Explains the consequences before a member is removed. */
export const removeMemberPage = ({ user, member }: { user: UserEntity; member: Member }): ConsolePage =>
  aboutUser(user, {
    title: 'Remove member',
    children: (
      <ActionConfirmation
        question={
          <>
            Remove <bdi class="name">{member.name}</bdi> from <bdi class="name">{user.name}</bdi>?
          </>
        }
        consequences={[
          'Sessions in the portals of the organisation end immediately.',
          'The account is kept.',
        ]}
        action={userPath(user.id, `members/${member.userId}/remove`)}
        submit="Remove member"
        cancel={userPath(user.id, 'members')}
      />
    ),
  });
