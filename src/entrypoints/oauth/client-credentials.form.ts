import { ApiProperty } from '@nestjs/swagger';
import { optional, text } from '#platform/http/api/api-schemas.js';

/** The fields in which a client may authenticate (RFC 6749 §2.3.1). */
export class ClientCredentialsForm {
  @ApiProperty(optional(text('With `client_secret`, or alone for a public client; not with HTTP Basic.')))
  client_id?: string;

  @ApiProperty(optional(text()))
  client_secret?: string;
}
