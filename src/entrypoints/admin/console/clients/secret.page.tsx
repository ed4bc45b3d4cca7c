import type { ClientEntity } from '#access/clients/client.entity.js';
import { LinkButton } from '#platform/web/forms/form.js';
import { NewClientSecret, newSecretTitle, type ShownSecret } from '#platform/web/layout/new-client-secret.js';
import type { ConsolePage } from '../pages/console-layout.js';
import { clientPath, aboutClient } from './client-layout.js';

/** The path of the page that shows a client's new secret. */
export const secretShownPath = (id: string): string => clientPath(id, 'secret/shown');

export interface SecretPageProps {
  client: ClientEntity;
  /** Undefined if it was already shown. */
  shown: ShownSecret | undefined;
}

/** A client's new secret, shown once; afterwards the page says that it was shown. */
export const secretPage = ({ client, shown }: SecretPageProps): ConsolePage =>
  aboutClient(client, {
    title: shown?.isNew ? 'Client created' : newSecretTitle(shown),
    children: (
      <NewClientSecret clientId={client.id} shown={shown} next={clientPath(client.id)}>
        <LinkButton href={clientPath(client.id)}>Go to the client</LinkButton>
        <LinkButton look="quiet" href={clientPath(client.id, 'secret')}>
          Rotate secret
        </LinkButton>
      </NewClientSecret>
    ),
  });
