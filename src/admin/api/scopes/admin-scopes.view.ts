import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { oneOf, text } from '../../../http/api/api-schemas.js';
import { SCOPE_AUDIENCES, type ScopeAudience, type ScopeEntity } from '../../../scopes/scope.entity.js';

/** A scope on the wire. */
@ApiSchema({ name: 'Scope' })
export class ScopeView {
  @ApiProperty(text(undefined, { example: 'vehicle:read' }))
  name!: string;

  @ApiProperty(text('Shown to users on the consent page.'))
  description!: string;

  @ApiProperty(oneOf(...SCOPE_AUDIENCES))
  audience!: ScopeAudience;
}

export const scopeView = ({ name, description, audience }: ScopeEntity): ScopeView => ({
  name,
  description,
  audience,
});
