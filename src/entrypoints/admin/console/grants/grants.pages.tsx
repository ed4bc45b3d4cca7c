import type { VNode } from 'preact';
import type { ClientEntity } from '#access/clients/client.entity.js';
import { PostButton } from '#platform/web/forms/form.js';
import { RecentMoment } from '#platform/web/tables/moment.js';
import { NEXT_PREVIOUS } from '#platform/web/tables/pager.js';
import { PagedTable } from '#platform/web/tables/table.js';
import type { Column } from '#platform/web/tables/table.js';
import type { Page } from '#platform/database/queries/read-page.js';
import type { GrantInList } from '#access/tokens/grants/grant.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { clientPath, aboutClient } from '../clients/client-layout.js';
import { type ConsolePage, ActionOn } from '../pages/console-layout.js';
import { NameLink, CommaList } from '../pages/lists.js';
import { aboutUser, userPath } from '../users/user-layout.js';

export interface GrantsProps {
  page: Page<GrantInList>;
  /** The ids of users who count as operators. */
  operators: ReadonlySet<string>;
  /** Path to return to after revoking one. */
  returnTo: string;
}

const grantPath = (id: string): string => `/admin/console/grants/${id}/revoke`;

/** The active grants that users gave to a client. */
export function clientGrantsPage({ client, ...props }: GrantsProps & { client: ClientEntity }): ConsolePage {
  return aboutClient(client, {
    current: 'grants',
    children: (
      <Grants
        {...props}
        path={clientPath(client.id, 'grants')}
        empty="This client has no active grants."
        whose={{
          head: 'User',
          cell: ({ userId, userName }) => <NameLink href={userPath(userId)} name={userName} />,
        }}
      />
    ),
  });
}

/** The active grants that a user gave. */
export function userGrantsPage({ user, ...props }: GrantsProps & { user: UserEntity }): ConsolePage {
  return aboutUser(user, {
    current: 'grants',
    children: (
      <Grants
        {...props}
        path={userPath(user.id, 'grants')}
        empty="This user has no active grants."
        whose={{
          head: 'Client',
          cell: ({ clientId, clientName }) => <NameLink href={clientPath(clientId)} name={clientName} />,
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

function Grants({ page, operators, path, empty, whose, returnTo }: ListProps): VNode {
  return (
    <>
      <p class="muted">
        A grant holds the refresh token and access tokens of one authorization. Revoking it keeps the consent.
      </p>
      <PagedTable
        caption="Active grants"
        isOneLine
        page={page}
        path={path}
        empty={empty}
        labels={NEXT_PREVIOUS}
        columns={[
          whose,
          { head: 'Scopes', cell: ({ scopes }) => <CommaList items={scopes} /> },
          { head: 'Granted', cell: ({ createdAt }) => <RecentMoment at={createdAt} />, onPhone: 'unfolded' },
          { head: 'Expires', cell: ({ expiresAt }) => <RecentMoment at={expiresAt} />, onPhone: 'named' },
          {
            head: 'Actions',
            leadsTo: ({ id }) => ['POST', grantPath(id)],
            onPhone: 'at-end',
            cell: ({ id, clientName, userId, userName }) => (
              <ActionOn isOperator={operators.has(userId)}>
                <PostButton
                  action={grantPath(id)}
                  class="in-row"
                  look="link-button"
                  hidden={{ return_to: returnTo }}
                >
                  Revoke
                  <span class="visually-hidden">
                    {' '}
                    the grant of {userName} to {clientName}
                  </span>
                </PostButton>
              </ActionOn>
            ),
          },
        ]}
      />
    </>
  );
}
