import type { VNode } from 'preact';
import type { ClientEntity } from '../../../clients/client.entity.js';
import { Facts, type Fact } from '../../../http/pages/facts.js';
import { Moment } from '../../../http/pages/moment.js';
import { ErrorNotice } from '../../../http/pages/notices.js';
import type { UserLayoutProps } from '../../../users/user-page-context.js';
import { Id } from '../pages/lists.js';
import { CopiedOnce } from '../pages/shown-once.js';
import { clientPath, renderClientPage } from './client-layout.js';

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
  layoutProps: UserLayoutProps;
  client: ClientEntity;
  /** Undefined if it was already shown. */
  shown: ShownSecret | undefined;
}

/** A client's new secret, shown once; afterwards the page says that it was shown. */
export function secretPage({ layoutProps, client, shown }: SecretPageProps): string {
  if (!shown) return shownAlreadyPage(layoutProps, client);
  const { secret, isNew, previousSecretExpiresAt } = shown;
  const facts: Fact[] = [
    ['Client ID', <Id id={client.id} />],
    ['Client secret', <CopiedOnce text={secret} />],
  ];
  if (!isNew) facts.push(['Previous secrets', previousWords(previousSecretExpiresAt)]);
  return renderClientPage({
    layoutProps,
    client,
    title: isNew ? 'Client created' : 'New secret',
    withScript: true,
    children: (
      <>
        <p class="notice" role="status">
          Copy the secret now and keep it safe: it is shown only once.
        </p>
        <Facts facts={facts} />
        <p class="console-buttons">
          <a class="button-link" href={clientPath(client.id)}>
            I have copied it
          </a>
        </p>
      </>
    ),
  });
}

function shownAlreadyPage(layoutProps: UserLayoutProps, client: ClientEntity): string {
  return renderClientPage({
    layoutProps,
    client,
    title: 'Secret already shown',
    children: (
      <>
        <ErrorNotice>
          The secret was already shown and cannot be shown again. If nobody copied it, rotate the secret.
        </ErrorNotice>
        <p class="console-buttons">
          <a class="button-link" href={clientPath(client.id)}>
            Go to the client
          </a>
          <a class="button-link quiet" href={clientPath(client.id, 'secret')}>
            Rotate secret{' '}
          </a>
        </p>
      </>
    ),
  });
}

function previousWords(until: string | null): VNode {
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
