import type { VNode } from 'preact';
import { MEMBER_ROLES, type MemberRole } from '#events/partners/members/member.js';
import { SelectField, TextField, type FieldErrors } from '#platform/web/forms/field.js';
import { PageForm, PostButton } from '#platform/web/forms/form.js';
import { ErrorNotice } from '#platform/web/layout/notices.js';
import { Moment } from '#platform/web/tables/moment.js';
import { Table } from '#platform/web/tables/table.js';
import { Confirmation } from '#platform/web/forms/confirmation.js';
import { LinkButton } from '#platform/web/forms/form.js';
import { AdminNotice, type AdminState } from '../frame/admin-notice.js';
import type { PortalPage } from '../frame/portal-layout.js';

export const MEMBERS_PATH = '/portal/members';

interface ShownMember {
  userId: string;
  name: string;
  email: string;
  role: MemberRole;
}

export interface MembersPageProps {
  owner: { name: string; email: string; isOrganisation: boolean };
  members: ShownMember[];
  invitations: { id: string; email: string; role: MemberRole; expiresAt: Date }[];
  state: AdminState;
  isMailOn: boolean;
  /** What was typed, and what is wrong with it. */
  email?: string;
  role?: string;
  errors?: FieldErrors;
}

const ROLE_OPTIONS = [
  { value: 'viewer', label: 'viewer: sees everything but secrets' },
  { value: 'developer', label: 'developer: also endpoints, tests, resends and contacts' },
  { value: 'admin', label: 'admin: also credentials, redirect URIs and members' },
] satisfies { value: (typeof MEMBER_ROLES)[number]; label: string }[];

/** The members of the organisation and its open invitations, with the forms to change them. */
export const membersPage = (props: MembersPageProps): PortalPage => ({
  title: 'Members',
  part: 'members',
  children: (
    <>
      {props.errors?.form && <ErrorNotice>{[props.errors.form].flat().join(' ')}</ErrorNotice>}
      <Members {...props} />
      <Invitations {...props} />
      {props.owner.isOrganisation ? (
        <>
          <h2>Invite someone</h2>
          <AdminNotice state={props.state} what="invite and remove members" path={MEMBERS_PATH} />
          {props.state === 'confirmed' && <InviteForm {...props} />}
        </>
      ) : (
        <OfPerson {...props} />
      )}
    </>
  ),
});

function Members({ owner, members, state }: MembersPageProps): VNode {
  const rows = [{ userId: '', name: owner.name, email: owner.email, role: 'admin' as const }, ...members];
  const columns = [
    { head: 'Name', cell: ({ name }: ShownMember) => <bdi>{name}</bdi> },
    { head: 'Email', cell: ({ email }: ShownMember) => <bdi>{email}</bdi> },
    {
      head: 'Role',

      cell: ({ userId, role }: ShownMember) =>
        userId === '' ? 'admin (the organisation’s own account)' : role,
    },
  ];
  const actions = {
    head: 'Actions',
    onPhone: 'unfolded' as const,
    cell: ({ userId, name }: ShownMember) =>
      userId !== '' && (
        <>
          <LinkButton look="quiet" href={`${MEMBERS_PATH}/${userId}`}>
            Change role<span class="visually-hidden"> of {name}</span>
          </LinkButton>{' '}
          <LinkButton look="quiet" href={`${MEMBERS_PATH}/${userId}/remove`}>
            Remove<span class="visually-hidden"> {name}</span>
          </LinkButton>
        </>
      ),
  };
  const canChange = state === 'confirmed' && members.length > 0;
  return (
    <Table caption="Members" rows={rows} columns={canChange ? [...columns, actions] : columns} unfolds />
  );
}

function Invitations({ invitations, state }: MembersPageProps): VNode | null {
  if (invitations.length === 0) return null;
  return (
    <>
      <h2>Invitations</h2>
      <ul class="entries" role="list">
        {invitations.map(({ id, email, role, expiresAt }) => (
          <li>
            <h3>
              <bdi>{email}</bdi>
            </h3>
            <p>
              Invited as {role}. The link works until <Moment at={expiresAt} />.
            </p>
            {state === 'confirmed' && (
              <PostButton action={`${MEMBERS_PATH}/withdraw/${id}`} look="quiet">
                Withdraw<span class="visually-hidden"> the invitation of {email}</span>
              </PostButton>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

/** A person's account only has members from when it was an organisation. */
function OfPerson({ members, invitations, state }: MembersPageProps): VNode {
  if (members.length + invitations.length === 0) {
    return <p class="muted">The owner is a person, not an organisation, so there are no other members.</p>;
  }
  return (
    <>
      <p class="muted">The owner is a person, not an organisation, so nobody else can be invited.</p>
      <AdminNotice state={state} what="remove members" path={MEMBERS_PATH} />
    </>
  );
}

function InviteForm({ isMailOn, email, role = 'developer', errors = {} }: MembersPageProps): VNode {
  if (!isMailOn) {
    return <p class="muted">This service sends no mail. Ask an operator to add members.</p>;
  }
  // Errors about the whole form are at the top of the page.
  const ofFields = { email: errors.email, role: errors.role };
  return (
    <PageForm action={MEMBERS_PATH} values={{ email, role }} errors={ofFields} submit="Invite" noValidate>
      <TextField
        name="email"
        label="Email"
        inputMode="email"
        spellcheck={false}
        hint="We send a link to this address. It works once, within 7 days."
        required
      />
      <SelectField name="role" label="Role" options={ROLE_OPTIONS} />
    </PageForm>
  );
}

/** The form that gives a member another role. */
export const memberPage = (member: ShownMember, errors: FieldErrors = {}): PortalPage => ({
  title: 'Change role',
  part: 'members',
  above: [{ href: MEMBERS_PATH, label: 'Members' }],
  children: (
    <>
      <p class="lead">
        <bdi class="name">{member.name}</bdi> <bdi class="muted">{member.email}</bdi>
      </p>
      <PageForm
        action={`${MEMBERS_PATH}/${member.userId}`}
        values={{ role: member.role }}
        errors={errors}
        submit="Change role"
        cancel={MEMBERS_PATH}
      >
        <SelectField name="role" label="Role" options={ROLE_OPTIONS} />
      </PageForm>
    </>
  ),
});

/** Explains the consequences before a member is removed. */
export const removeMemberPage = (member: ShownMember): PortalPage => ({
  title: 'Remove member',
  part: 'members',
  above: [{ href: MEMBERS_PATH, label: 'Members' }],
  children: (
    <Confirmation
      question={
        <>
          Remove <bdi class="name">{member.name}</bdi>?
        </>
      }
      consequences={[
        'Their portal sessions end immediately.',
        'Their account is kept. They can be invited again.',
      ]}
      action={`${MEMBERS_PATH}/${member.userId}/remove`}
      submit="Remove"
      isDanger
      cancel={MEMBERS_PATH}
    />
  ),
});
