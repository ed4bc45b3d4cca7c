import { ExactMoment } from '../../../http/pages/moment.js';
import type { Page } from '../../../http/paging.js';
import type { ConnectedClient } from '../../../tokens/connected-clients.repository.js';
import type { UserEntity } from '../../../users/user.entity.js';
import { clientPath } from '../clients/client-layout.js';
import type { UserLayoutProps } from '../../../users/user-page-context.js';
import { Disconnection } from '../pages/disconnection.js';
import { Enabled, NEXT_PREVIOUS, PagedTable } from '../pages/lists.js';
import { renderUserPage, userPath } from './user-layout.js';

interface Props {
  layoutProps: UserLayoutProps;
  user: UserEntity;
}

/** The applications that the user shares data with. */
export function userApplicationsPage({
  layoutProps,
  user,
  page,
}: Props & { page: Page<ConnectedClient> }): string {
  return renderUserPage({
    layoutProps,
    user,
    part: 'applications',
    children: (
      <PagedTable
        caption="Connected applications"
        page={page}
        idOf={({ id }) => id}
        path={userPath(user.id, 'applications')}
        empty="This user shares no data with any application."
        words={NEXT_PREVIOUS}
        columns={[
          {
            head: 'Client',
            cell: ({ id, name }) => (
              <a href={clientPath(id)}>
                <bdi>{name}</bdi>
              </a>
            ),
          },
          {
            head: 'Scopes',
            cell: ({ descriptions }) => (
              <ul class="plain">
                {descriptions.map((description) => (
                  <li>{description}</li>
                ))}
              </ul>
            ),
          },
          { head: 'Client state', cell: ({ enabled }) => <Enabled enabled={enabled} /> },
          { head: 'Since', cell: ({ connectedAt }) => <ExactMoment at={connectedAt} /> },
          {
            head: 'Actions',
            cell: ({ id, name }) => (
              <a href={userPath(user.id, `applications/${id}/disconnect`)}>
                Disconnect<span class="visually-hidden"> {name}</span>
              </a>
            ),
          },
        ]}
      />
    ),
  });
}

/** Explains the consequences of disconnecting an application from the user before it is done. */
export function disconnectClientPage({
  layoutProps,
  user,
  client,
  csrfToken,
}: Props & { client: ConnectedClient; csrfToken: string }): string {
  return renderUserPage({
    layoutProps,
    user,
    title: 'Disconnect application',
    children: (
      <Disconnection
        word="application"
        client={client}
        user={user}
        action={userPath(user.id, `applications/${client.id}/disconnect`)}
        csrfToken={csrfToken}
        back={userPath(user.id, 'applications')}
      />
    ),
  });
}
