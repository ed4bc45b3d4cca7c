import { ApiProperty } from '@nestjs/swagger';
import { listOf, oneOf, optional, text } from '#platform/http/api/api-schemas.js';
import { ClientCredentialsForm } from '../client-credentials.form.js';

/** The form of the token endpoint, as described to callers; the grants read it. */
export class TokenForm extends ClientCredentialsForm {
  @ApiProperty(oneOf('authorization_code', 'client_credentials', 'refresh_token'))
  grant_type!: string;

  @ApiProperty(optional(text('Works once, for one minute.')))
  code?: string;

  @ApiProperty(optional(text('As in the authorization request. It may be left out with a `code_verifier`.')))
  redirect_uri?: string;

  @ApiProperty(
    optional(
      text('Required if a challenge was sent.', {
        pattern: '^[A-Za-z0-9._~-]{43,128}$',
        example: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
      }),
    ),
  )
  code_verifier?: string;

  @ApiProperty(optional(text()))
  refresh_token?: string;

  @ApiProperty(optional(text('Narrower than what was granted; defaults to all of it.')))
  scope?: string;

  @ApiProperty(
    optional(
      listOf(text(), {
        description:
          'What the access token is for (RFC 8707): of those of the authorization request, or of `protected_resources` in the metadata. May be repeated.',
      }),
    ),
  )
  resource?: string[];
}
