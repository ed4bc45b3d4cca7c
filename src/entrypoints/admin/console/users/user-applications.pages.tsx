import { RecentMoment } from '#platform/web/tables/moment.js';
import { NEXT_PREVIOUS } from '#platform/web/tables/pager.js';
import { Enabled } from '#platform/web/tables/state.js';
import { PagedTable } from '#platform/web/tables/table.js';
import type { Page } from '#platform/database/queries/read-page.js';
import type { ConnectedClient } from '#access/tokens/grants/grant.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { clientPath } from '../clients/client-layout.js';
import type { ConsolePage } from '../pages/console-layout.js';
import { Disconnection } from '../pages/disconnection.js';
import { NameLink, RowLink } from '../pages/lists.js';
import { aboutUser, userPath } from './user-layout.js';

interface Props {
  user: UserEntity;
}

/** The applications that the user shares data with. */
export function userApplicationsPage({ user, page }: Props & { page: Page<ConnectedClient> }): ConsolePage {
  return aboutUser(user, {
    current: 'applications',
    children: (
      <PagedTable
        caption="Connected clients"
        page={page}
        path={userPath(user.id, 'applications')}
        empty="This user shares no data with any client."
        labels={NEXT_PREVIOUS}
        columns={[
          {
            head: 'Client',
            cell: ({ id, name }) => <NameLink href={clientPath(id)} name={name} />,
          },
          {
            head: 'Scopes',
            cell: ({ access }) => (
              <ul class="plain">
                {access.map(({ words }) => (
                  <li>{words}</li>
                ))}
              </ul>
            ),
          },
          { head: 'Client state', cell: ({ enabled }) => <Enabled enabled={enabled} />, onPhone: 'unfolded' },
          {
            head: 'Since',
            cell: ({ connectedAt }) => <RecentMoment at={connectedAt} />,
            onPhone: 'unfolded',
          },
          {
            head: 'Ends',
            cell: ({ expiresAt }) => (expiresAt ? <RecentMoment at={expiresAt} /> : 'never'),
            onPhone: 'unfolded',
          },
          {
            head: 'Actions',
            leadsTo: ({ id }) => ['GET', userPath(user.id, `applications/${id}/disconnect`)],
            onPhone: 'at-end',
            cell: ({ id, name }) => (
              <RowLink href={userPath(user.id, `applications/${id}/disconnect`)} about={name}>
                Disconnect
              </RowLink>
            ),
          },
        ]}
      />
    ),
  });
}

/** Explains the consequences of disconnecting an application from the user before it is done. */
export function disconnectClientPage({ user, client }: Props & { client: ConnectedClient }): ConsolePage {
  return aboutUser(user, {
    title: 'Disconnect client',
    children: (
      <Disconnection
        client={client}
        user={user}
        action={userPath(user.id, `applications/${client.id}/disconnect`)}
        cancel={userPath(user.id, 'applications')}
      />
    ),
  });
}
