import { Confirmation } from '../../web/forms/confirmation.js';
import type { ConnectedClient } from '../../tokens/grants/connected-client.js';
import type { AccountPage } from './account-layout.js';
import { WhatItReads } from './applications.page.js';

/** Says what disconnecting an application means, before it happens. */
export const disconnectPage = (client: ConnectedClient): AccountPage => ({
  title: 'Disconnect application',
  part: 'applications',
  children: (
    <Confirmation
      question={
        <>
          Stop sharing your charging data with <bdi class="name">{client.name}</bdi>?
        </>
      }
      facts={
        <>
          <WhatItReads client={client} />
          <p>
            <a href={`/account/applications/${client.id}/history`}>See what it has read so far</a>
          </p>
        </>
      }
      heading="What happens if you disconnect it"
      consequences={[
        'It can no longer read your data.',
        'It loses all access to your account, and no more of your charging events are sent to it.',
        'It keeps the data it has already read. To have that deleted, ask the people who run it.',
        'You can connect it again at any time by authorizing it.',
      ]}
      action={`/account/applications/${client.id}`}
      submit="Disconnect"
      isDanger
      cancel="/account"
      keep="Keep it connected"
    />
  ),
});
