import type { VNode } from 'preact';
import { say } from '#platform/language/text.js';
import { Confirmation } from '#platform/web/forms/confirmation.js';
import { Say, useText } from '#platform/web/layout/say.js';
import type { ConnectedClient } from '#access/tokens/grants/grant.js';
import type { AccountPage } from './account-layout.js';
import { WhatItReads } from './applications.page.js';

/** Explains the consequences before an application is disconnected. */
export const disconnectPage = (client: ConnectedClient): AccountPage => ({
  title: say('Disconnect application'),
  part: 'sharing',
  children: <Disconnect client={client} />,
});

function Disconnect({ client }: { client: ConnectedClient }): VNode {
  const t = useText();
  return (
    <Confirmation
      question={
        <Say
          it="Stop sharing your charging data with {application}?"
          with={{ application: <bdi class="name">{client.name}</bdi> }}
        />
      }
      facts={
        <>
          <WhatItReads client={client} />
          <p>
            <a href={`/account/applications/${client.id}/history`}>{t('See what it has read so far')}</a>
          </p>
        </>
      }
      heading={t('What happens if you disconnect it')}
      consequences={[
        t('It can no longer read your data.'),
        t('It loses all access to your account, and no more of your charging events are sent to it.'),
        t('It keeps the data it has already read. To have that deleted, ask the people who run it.'),
        ...(client.canBeAuthorized ? [t('You can connect it again at any time by authorizing it.')] : []),
      ]}
      action={`/account/applications/${client.id}`}
      submit={t('Disconnect')}
      isDanger
      cancel="/account"
      keep={t('Keep it connected')}
    />
  );
}
