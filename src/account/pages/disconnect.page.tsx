import { CsrfField } from '../../http/pages/csrf-field.js';
import type { ConnectedClient } from '../../tokens/connected-clients.repository.js';
import type { UserLayoutProps } from '../../users/user-page-context.js';
import { renderAccountPage } from './account-layout.js';
import { WhatItReads } from './applications.page.js';

export interface DisconnectPageProps {
  layoutProps: UserLayoutProps;
  csrfToken: string;
  client: ConnectedClient;
}

/** Says what disconnecting an application means, before it happens. */
export function disconnectPage({ layoutProps, csrfToken, client }: DisconnectPageProps): string {
  return renderAccountPage({
    ...layoutProps,
    title: 'Disconnect application',
    part: 'applications',
    children: (
      <>
        <p class="lead">
          Stop sharing your charging data with <bdi class="name">{client.name}</bdi>?
        </p>
        <WhatItReads client={client} />
        <h2>What happens if you disconnect it</h2>
        <ul>
          <li>It can no longer read your data.</li>
          <li>It loses all access to your account, and no more of your charging events are sent to it.</li>
          <li>It keeps the data it has already read. To have that deleted, ask the people who run it.</li>
          <li>You can connect it again at any time by authorizing it.</li>
        </ul>
        <form method="post" action={`/account/applications/${client.id}`}>
          <CsrfField token={csrfToken} />
          <div class="actions actions-pair">
            <a class="button-link quiet" href="/account">
              Keep it connected
            </a>
            <button type="submit" class="danger">
              Disconnect
            </button>
          </div>
        </form>
      </>
    ),
  });
}
