import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { oneOf, optional, text } from '#platform/http/api/api-schemas.js';
import { ClientCredentialsForm } from '../client-credentials.form.js';

/** The form of the revocation endpoint, as described to callers. */
export class RevocationForm extends ClientCredentialsForm {
  @ApiProperty(text())
  token!: string;

  @ApiProperty(optional(oneOf('access_token', 'refresh_token')))
  token_type_hint?: string;
}

/** The answer of the revocation endpoint: nothing. */
@ApiSchema({ name: 'Nothing', additionalProperties: false } as { name: string })
export class NothingView {}
