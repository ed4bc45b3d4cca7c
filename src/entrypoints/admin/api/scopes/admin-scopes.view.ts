import { ApiSchema } from '@nestjs/swagger';
import { oneOf, orNull, text, time } from '#platform/http/api/api-schemas.js';
import { viewOf } from '#platform/http/api/view-of.js';
import { SCOPE_AUDIENCES, type ScopeEntity } from '#access/scopes/scope.entity.js';
import { TRANSLATIONS } from './admin-scopes.dto.js';

/** A scope on the wire. */
@ApiSchema({ name: 'Scope' })
export class ScopeView extends viewOf<ScopeEntity>()({
  name: text(undefined, { example: 'vehicle:read' }),
  description: text('Shown to users on the consent page.'),
  translations: { ...TRANSLATIONS, description: 'The description in other languages.' },
  audience: oneOf(...SCOPE_AUDIENCES),
  meaning_changed_at: orNull(
    time('When the meaning of its description last changed, so that users are asked again.'),
  ),
}) {}
