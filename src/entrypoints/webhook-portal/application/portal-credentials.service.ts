import { Injectable } from '@nestjs/common';
import { ClientSecretsService } from '#access/clients/client-secrets.service.js';
import { ClientsService } from '#access/clients/clients.service.js';
import { ClientKeysService } from '#access/clients/keys/client-keys.service.js';
import { SecretUsesService } from '#access/clients/secret-uses.service.js';
import type { FieldErrors } from '#platform/web/forms/field.js';
import type { PortalAnswer, PortalContext } from '../frame/portal-context.js';
import { credentialsPage } from './credentials.page.js';

/** The page of a client's credentials, as every form on it shows it again. */
@Injectable()
export class PortalCredentials {
  constructor(
    private readonly clients: ClientsService,
    private readonly secrets: ClientSecretsService,
    private readonly keys: ClientKeysService,
    private readonly uses: SecretUsesService,
  ) {}

  async page(
    context: PortalContext,
    { errors, status }: { errors?: FieldErrors; status?: number } = {},
  ): Promise<PortalAnswer> {
    const { clientId, form } = context;
    await this.uses.flush();
    const [client, secrets, newest, state] = await Promise.all([
      this.clients.get(clientId),
      this.secrets.list(clientId),
      this.secrets.newest(clientId),
      context.adminState(),
    ]);
    const keys = await this.keys.list(client);
    const typed = { keep: form.get('keep'), jwk: form.get('jwk') };
    return { page: credentialsPage({ client, secrets, keys, newest, state, ...typed, errors }), status };
  }
}
