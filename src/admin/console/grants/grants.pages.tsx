import type { VNode } from 'preact';
import type { ClientEntity } from '../../../clients/client.entity.js';
import { CsrfField } from '../../../http/pages/csrf-field.js';
import { ExactMoment } from '../../../http/pages/moment.js';
import type { Page } from '../../../http/paging.js';
import type { GrantInList } from '../../../tokens/grants.repository.js';
import type { UserEntity } from '../../../users/user.entity.js';
import { clientPath, renderClientPage } from '../clients/client-layout.js';
import type { UserLayoutProps } from '../../../users/user-page-context.js';
import { NEXT_PREVIOUS, PagedTable, Words, type Column } from '../pages/lists.js';
import { renderUserPage, userPath } from '../users/user-layout.js';

export interface GrantsProps {
  layoutProps: UserLayoutProps;
  page: Page<GrantInList>;
  /** Path to return to after revoking one. */
  returnTo: string;
  tokenOf: (id: string) => string;
}

export const grantPath = (id: string): string => `/admin/console/grants/${id}/revoke`;

/** The active grants that users gave to a client. */
export function clientGrantsPage({ client, ...props }: GrantsProps & { client: ClientEntity }): string {
  return renderClientPage({
    layoutProps: props.layoutProps,
    client,
    part: 'grants',
    children: (
      <Grants
        {...props}
        path={clientPath(client.id, 'grants')}
        empty="This client has no active grants."
        whose={{
          head: 'User',
          cell: ({ userId, userName }) => (
            <a href={userPath(userId)}>
              <bdi>{userName}</bdi>
            </a>
          ),
        }}
      />
    ),
  });
}

/** The active grants that a user gave. */
export function userGrantsPage({ user, ...props }: GrantsProps & { user: UserEntity }): string {
  return renderUserPage({
    layoutProps: props.layoutProps,
    user,
    part: 'grants',
    children: (
      <Grants
        {...props}
        path={userPath(user.id, 'grants')}
        empty="This user has no active grants."
        whose={{
          head: 'Client',
          cell: ({ clientId, clientName }) => (
            <a href={clientPath(clientId)}>
              <bdi>{clientName}</bdi>
            </a>
          ),
        }}
      />
    ),
  });
}

interface ListProps extends GrantsProps {
  path: string;
  empty: string;
  whose: Column<GrantInList>;
}

function Grants({ page, path, empty, whose, returnTo, tokenOf }: ListProps): VNode {
  return (
    <>
      <p class="muted">
        A grant holds the refresh token and access tokens of one authorization. Revoking it keeps the consent.
      </p>
      <PagedTable
        caption="Active grants"
        page={page}
        idOf={({ id }) => id}
        path={path}
        empty={empty}
        words={NEXT_PREVIOUS}
        columns={[
          whose,
          { head: 'Scopes', cell: ({ scopes }) => <Words words={scopes} /> },
          { head: 'Granted', cell: ({ createdAt }) => <ExactMoment at={createdAt} /> },
          { head: 'Expires', cell: ({ expiresAt }) => <ExactMoment at={expiresAt} /> },
          {
            head: 'Actions',
            cell: ({ id, clientName, userName }) => (
              <form method="post" action={grantPath(id)} class="in-row">
                <CsrfField token={tokenOf(id)} />
                <input type="hidden" name="return_to" value={returnTo} />
                <button type="submit" class="link-button">
                  Revoke{' '}
                  <span class="visually-hidden">
                    {' '}
                    the grant of {userName} to {clientName}
                  </span>
                </button>
              </form>
            ),
          },
        ]}
      />
    </>
  );
}
