import { CsrfField } from '../../http/pages/csrf-field.js';
import type { ConnectedClient } from '../../tokens/connected-clients.repository.js';
import { renderAccountPage, type AccountFrame } from './account-layout.js';
import { WhatItReads } from './applications.page.js';

export interface DisconnectPageProps {
  frame: AccountFrame;
  csrfToken: string;
  client: ConnectedClient;
}

/** Says what disconnecting an application means, before it happens. */
export function disconnectPage({ frame, csrfToken, client }: DisconnectPageProps): string {
  return renderAccountPage({
    ...frame,
    title: 'Disconnect an application',
    part: 'applications',
    children: (
      <>
        <p class="lead">
          Stop sharing your charging data with <bdi class="name">{client.name}</bdi>?
        </p>
        <WhatItReads client={client} />
        <h2>What happens if you disconnect it</h2>
        <ul>
          <li>It can no longer read your data, from this moment on.</li>
          <li>
            It is signed out of your account everywhere, and no more of your charging events are sent to it.
          </li>
          <li>What it read before stays with it. If it should delete that too, ask the people who run it.</li>
          <li>You can connect it again at any time: it has to ask you, and you have to agree.</li>
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
