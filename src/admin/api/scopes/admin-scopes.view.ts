import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { oneOf, orNull, text, time } from '../../../http/api/api-schemas.js';
import { SCOPE_AUDIENCES, type ScopeAudience, type ScopeEntity } from '../../../scopes/scope.entity.js';
import type { Translations } from '../../../scopes/translations.js';
import { TRANSLATIONS } from './admin-scopes.dto.js';

/** A scope on the wire. */
@ApiSchema({ name: 'Scope' })
export class ScopeView {
  @ApiProperty(text(undefined, { example: 'vehicle:read' }))
  name!: string;

  @ApiProperty(text('Shown to users on the consent page.'))
  description!: string;

  @ApiProperty({ ...TRANSLATIONS, description: 'The description in other languages.' })
  translations!: Translations;

  @ApiProperty(oneOf(...SCOPE_AUDIENCES))
  audience!: ScopeAudience;

  @ApiProperty(
    orNull(time('When its description last came to mean something else, so that users are asked anew.')),
  )
  meaning_changed_at!: string | null;
}

export const scopeView = ({
  name,
  description,
  translations,
  audience,
  meaningChangedAt,
}: ScopeEntity): ScopeView => ({
  name,
  description,
  translations,
  audience,
  meaning_changed_at: meaningChangedAt?.toISOString() ?? null,
});
