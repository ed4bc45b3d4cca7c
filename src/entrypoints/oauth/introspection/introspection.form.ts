import { ApiProperty } from '@nestjs/swagger';
import { optional, text } from '#platform/http/api/api-schemas.js';
import { ClientCredentialsForm } from '../client-credentials.form.js';

/** The form of the introspection endpoint, as described to callers. */
export class IntrospectionForm extends ClientCredentialsForm {
  @ApiProperty(text())
  token!: string;

  @ApiProperty(optional(text()))
  token_type_hint?: string;

  @ApiProperty(optional(text('If given, `scope` is what the token may do with the data of this user.')))
  user_id?: string;
}
