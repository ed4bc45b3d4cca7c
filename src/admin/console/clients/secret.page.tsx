import type { VNode } from 'preact';
import type { ClientEntity } from '../../../clients/client.entity.js';
import { Facts } from '../../../web/tables/facts.js';
import { LinkButton } from '../../../web/forms/form.js';
import { Moment } from '../../../web/tables/moment.js';
import type { ConsolePage } from '../pages/console-layout.js';
import { Id } from '../pages/lists.js';
import { CopiedOnce, ShownAlready, ShownOnce } from '../../../web/layout/shown-once.js';
import { clientPath, aboutClient } from './client-layout.js';

/** A client's secret, passed on to the page that shows it once. */
export interface ShownSecret {
  secret: string;
  /** Whether the secret belongs to a new client, or to a rotation. */
  isNew: boolean;
  /** ISO 8601; null if there were no previous secrets. */
  previousSecretExpiresAt: string | null;
}

/** The path of the page that shows a client's new secret. */
export const secretShownPath = (id: string): string => clientPath(id, 'secret/shown');

export interface SecretPageProps {
  client: ClientEntity;
  /** Undefined if it was already shown. */
  shown: ShownSecret | undefined;
}

/** A client's new secret, shown once; afterwards the page says that it was shown. */
export function secretPage({ client, shown }: SecretPageProps): ConsolePage {
  if (!shown) return shownAlreadyPage(client);
  const { secret, isNew, previousSecretExpiresAt } = shown;
  return aboutClient(client, {
    title: isNew ? 'Client created' : 'New secret',
    children: (
      <ShownOnce
        note="Copy the secret now and keep it safe: it is shown only once."
        next={clientPath(client.id)}
      >
        <Facts
          facts={[
            ['Client ID', <Id id={client.id} />],
            ['Client secret', <CopiedOnce text={secret} />],
            !isNew && ['Previous secrets', previousSecretsText(previousSecretExpiresAt)],
          ]}
        />
      </ShownOnce>
    ),
  });
}

const shownAlreadyPage = (client: ClientEntity): ConsolePage =>
  aboutClient(client, {
    title: 'Secret already shown',
    children: (
      <ShownAlready note="The secret was already shown and cannot be shown again. If nobody copied it, rotate the secret.">
        <LinkButton href={clientPath(client.id)}>Go to the client</LinkButton>
        <LinkButton look="quiet" href={clientPath(client.id, 'secret')}>
          Rotate secret
        </LinkButton>
      </ShownAlready>
    ),
  });

function previousSecretsText(until: string | null): VNode {
  if (until === null) return <>none</>;
  const time = new Date(until);
  return time.getTime() <= Date.now() ? (
    <>expired</>
  ) : (
    <>
      valid until <Moment at={time} />
    </>
  );
}
