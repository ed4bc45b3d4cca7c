import type { ClientEntity } from '../../../clients/client.entity.js';
import { Moment } from '../../../http/pages/moment.js';
import type { ConsoleFrame } from '../pages/console-layout.js';
import { Facts, Id, type Fact } from '../pages/lists.js';
import { clientPath, renderClientPage } from './client-frame.js';

export interface SecretPageProps {
  frame: ConsoleFrame;
  client: ClientEntity;
  /** Absent for a public client. */
  secret: string | undefined;
  isNew: boolean;
  previousSecretExpiresAt?: Date | null;
}

/** A client's new secret, shown this once: the page's own address shows it to nobody. */
export function secretPage({
  frame,
  client,
  secret,
  isNew,
  previousSecretExpiresAt,
}: SecretPageProps): string {
  const facts: Fact[] = [['Client id', <Id id={client.id} />]];
  if (secret !== undefined) {
    facts.push(['Client secret', <code class="secret">{secret}</code>]);
    if (!isNew) facts.push(['The secrets before it', previousWords(previousSecretExpiresAt)]);
  }
  return renderClientPage({
    frame,
    client,
    title: isNew ? 'The client is registered' : 'The new secret',
    children: (
      <>
        {secret === undefined ? (
          <p class="notice" role="status">
            It is a public client, so it has no secret. It must use PKCE.
          </p>
        ) : (
          <p class="notice" role="status">
            Copy the secret now and keep it safe: it is shown this once.
          </p>
        )}
        <Facts facts={facts} />
        <p class="console-buttons">
          <a class="button-link" href={clientPath(client.id)}>
            {secret === undefined ? 'Go to the client' : 'I have copied it'}
          </a>
        </p>
      </>
    ),
  });
}

const previousWords = (until: Date | null | undefined) =>
  !until ? (
    <>there were none</>
  ) : until.getTime() <= Date.now() ? (
    <>count no more</>
  ) : (
    <>
      count until <Moment at={until} />
    </>
  );
