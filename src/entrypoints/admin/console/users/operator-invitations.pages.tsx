import { OPERATOR_ROLES } from '#platform/config/operator-role.js';
import type { OperatorInvitation } from '#events/partners/members/invitation.js';
import { Choices, TextField, type FieldErrors } from '#platform/web/forms/field.js';
import { LinkButton, PostButton } from '#platform/web/forms/form.js';
import { RecentMoment } from '#platform/web/tables/moment.js';
import { Table } from '#platform/web/tables/table.js';
import { ConsoleForm } from '../pages/console-form.js';
import type { ConsolePage } from '../pages/console-layout.js';
import { NameLink } from '../pages/lists.js';
import { USERS_PATH, userPath, ROLE_LABELS } from './user-layout.js';

export const INVITATIONS_PATH = `${USERS_PATH}/invitations`;

const withdrawPath = (id: string): string => `${INVITATIONS_PATH}/withdraw/${id}`;

type Invited = OperatorInvitation & { inviterName: string };

/** The invitations that still work. */
export const invitationsPage = (invitations: Invited[]): ConsolePage => ({
  part: 'users',
  title: 'Operator invitations',
  above: [{ href: USERS_PATH, label: 'Users' }],
  actions: <LinkButton href={`${INVITATIONS_PATH}/new`}>Invite operator</LinkButton>,
  children:
    invitations.length === 0 ? (
      <p class="empty">Nobody is invited to become an operator.</p>
    ) : (
      <Table
        caption="Invitations"
        rows={invitations}
        columns={[
          { head: 'Email', cell: ({ email }) => <bdi>{email}</bdi> },
          { head: 'Role', cell: ({ role }) => role },
          {
            head: 'Invited by',
            cell: ({ invitedBy, inviterName }) => <NameLink href={userPath(invitedBy)} name={inviterName} />,
            onPhone: 'unfolded',
          },
          { head: 'Works until', cell: ({ expiresAt }) => <RecentMoment at={expiresAt} />, onPhone: 'named' },
          {
            head: 'Actions',
            cell: ({ id, email }) => (
              <PostButton action={withdrawPath(id)} look="quiet">
                Withdraw<span class="visually-hidden"> the invitation of {email}</span>
              </PostButton>
            ),
            leadsTo: ({ id }) => ['POST', withdrawPath(id)],
            onPhone: 'unfolded',
          },
        ]}
        unfolds
      />
    ),
});

export interface InvitePageProps {
  typed: { email: string; role: string };
  isMailOn: boolean;
  fourEyes: boolean;
  errors?: FieldErrors;
}

/** The form that invites someone to become an operator. */
export const inviteOperatorPage = ({ typed, isMailOn, fourEyes, errors }: InvitePageProps): ConsolePage => ({
  part: 'users',
  title: 'Invite operator',
  above: [
    { href: USERS_PATH, label: 'Users' },
    { href: INVITATIONS_PATH, label: 'Operator invitations' },
  ],
  children: isMailOn ? (
    <>
      <p>
        A link is mailed to the address. It works once, within 7 days, as long as you are an admin. If the
        address has an account, the person logs in first; everything that opens that account then stops
        working, and a new password is asked for.
      </p>
      {fourEyes && (
        <p>A second admin approves new admins: invite with another role first, then give the role admin.</p>
      )}
      <ConsoleForm
        action={`${INVITATIONS_PATH}/new`}
        values={typed}
        errors={errors}
        submit="Send invitation"
        cancel={INVITATIONS_PATH}
      >
        <TextField name="email" label="Email" inputMode="email" required />
        <Choices
          name="role"
          label="Role"
          type="radio"
          options={OPERATOR_ROLES.map((value) => ({ value, label: ROLE_LABELS[value] }))}
        />
      </ConsoleForm>
    </>
  ) : (
    <p class="muted">This service sends no mail. Create the user, and give the role on the user’s page.</p>
  ),
});
