import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { authMethodOf, type AuthMethod, type ClientEntity } from '#access/clients/client.entity.js';
import { CLIENT } from '#access/clients/client.resource.js';
import { optional, orNull, text, time } from '#platform/http/api/api-schemas.js';
import { logoPath } from '#platform/web/layout/brand.js';

/** A client on the wire. */
@ApiSchema({ name: 'Client' })
export class ClientView extends CLIENT.viewClass() {
  @ApiProperty(
    orNull(text('Where its logo is served; an operator uploads it in the console.', { format: 'uri' })),
  )
  logo_url!: string | null;

  declare token_endpoint_auth_method: AuthMethod;
}

/** `baseUrl`: the public address of the service. */
export const clientView = (client: ClientEntity, baseUrl: string): ClientView => ({
  ...CLIENT.view(client),
  token_endpoint_auth_method: authMethodOf(client),
  logo_url: client.logoId === null ? null : `${baseUrl}${logoPath(client.logoId)}`,
});

/** A client in the response that created it. */
@ApiSchema({ name: 'NewClient' })
export class NewClientView extends ClientView {
  @ApiProperty(optional(text('Shown only once; a public client and one with keys have none.')))
  client_secret?: string;
}

/** A new client secret on the wire, and when the previous ones expire: null if there were none. */
@ApiSchema({ name: 'NewClientSecret' })
export class NewSecretView {
  @ApiProperty(text())
  client_secret!: string;

  @ApiProperty(orNull(time()))
  previous_secret_expires_at!: string | null;
}
