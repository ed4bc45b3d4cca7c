import type { VNode } from 'preact';
import type { Identity } from '#access/identity-providers/identity.entity.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { RecentMoment } from '#platform/web/tables/moment.js';
import { Table } from '#platform/web/tables/table.js';
import { ActionConfirmation } from '../pages/disconnection.js';
import type { ConsolePage } from '../pages/console-layout.js';
import { RowLink } from '../pages/lists.js';
import { aboutUser, userPath } from './user-layout.js';

const removalPath = (userId: string, provider: string): string =>
  userPath(userId, `identities/${provider}/remove`);

/** The identity providers through which the user logs in. */
export function userIdentitiesPage({
  user,
  identities,
}: {
  user: UserEntity;
  identities: Identity[];
}): ConsolePage {
  return aboutUser(user, {
    current: 'identities',
    children:
      identities.length === 0 ? (
        <p class="empty">This account is not linked to any identity provider.</p>
      ) : (
        <Identities user={user} identities={identities} />
      ),
  });
}

const Identities = ({ user, identities }: { user: UserEntity; identities: Identity[] }): VNode => (
  <Table
    caption="Identity providers"
    rows={identities}
    columns={[
      { head: 'Provider', cell: ({ label }) => <bdi>{label}</bdi> },
      { head: 'Issuer', cell: ({ issuer }) => issuer, onPhone: 'unfolded' },
      { head: 'Subject', cell: ({ subject }) => <code>{subject}</code>, onPhone: 'unfolded' },
      { head: 'Linked', cell: ({ linkedAt }) => <RecentMoment at={linkedAt} />, onPhone: 'named' },
      { head: 'Last used', cell: ({ lastUsedAt }) => <RecentMoment at={lastUsedAt} />, onPhone: 'named' },
      {
        head: 'Actions',
        cell: ({ provider, label }) => (
          <RowLink href={removalPath(user.id, provider)} about={label}>
            Remove link
          </RowLink>
        ),
        onPhone: 'unfolded',
      },
    ]}
    unfolds
  />
);

/** Explains the consequences before a link is removed. */
export function removeIdentityPage({
  user,
  identity,
}: {
  user: UserEntity;
  identity: Identity;
}): ConsolePage {
  return aboutUser(user, {
    title: 'Remove link',
    children: (
      <ActionConfirmation
        question={
          <>
            Remove the link of <bdi class="name">{user.name}</bdi> to <bdi class="name">{identity.label}</bdi>
            ?
          </>
        }
        consequences={[
          'Sessions that came from this provider end immediately.',
          'Clients and tokens of the account are kept.',
          'If the provider links accounts by their email address, the next login there links the account again. Disable the user to prevent that.',
        ]}
        action={removalPath(user.id, identity.provider)}
        submit="Remove link"
        cancel={userPath(user.id, 'identities')}
      />
    ),
  });
}
