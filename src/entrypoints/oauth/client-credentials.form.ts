import { ApiProperty } from '@nestjs/swagger';
import { oneOf, optional, text } from '#platform/http/api/api-schemas.js';

/** The fields in which a client may authenticate (RFC 6749 §2.3.1). */
export class ClientCredentialsForm {
  @ApiProperty(optional(text('With `client_secret`, or alone for a public client; not with HTTP Basic.')))
  client_id?: string;

  @ApiProperty(optional(text())) client_secret?: string;

  @ApiProperty(optional(text('A signed JWT (RFC 7523) of a client with keys, instead of a secret.')))
  client_assertion?: string;

  @ApiProperty(optional(oneOf('urn:ietf:params:oauth:client-assertion-type:jwt-bearer')))
  client_assertion_type?: string;
}
