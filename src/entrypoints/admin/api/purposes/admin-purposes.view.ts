import { ApiSchema } from '@nestjs/swagger';
import { text } from '#platform/http/api/api-schemas.js';
import { viewOf } from '#platform/http/api/view-of.js';
import type { PurposeEntity } from '#access/scopes/purposes/purpose.entity.js';
import { PURPOSE_WORDS } from './admin-purposes.dto.js';

/** A purpose on the wire. */
@ApiSchema({ name: 'Purpose' })
export class PurposeView extends viewOf<PurposeEntity>()({
  name: text(undefined, { example: 'route_planning' }),
  words: PURPOSE_WORDS,
}) {}
