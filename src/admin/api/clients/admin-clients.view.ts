import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { CLIENT } from '../../../clients/client.resource.js';
import { optional, orNull, text, time } from '../../../http/api/api-schemas.js';

/** A client on the wire. */
@ApiSchema({ name: 'Client' })
export class ClientView extends CLIENT.viewClass() {}

/** A client in the response that created it. */
@ApiSchema({ name: 'NewClient' })
export class NewClientView extends ClientView {
  @ApiProperty(optional(text('Shown only once; a public client has none.')))
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
