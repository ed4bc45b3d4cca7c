import { ApiSchema } from '@nestjs/swagger';
import type { ConsentEntity } from '#access/consents/consent.entity.js';
import { listOf, orNull, text, time } from '#platform/http/api/api-schemas.js';
import { viewOf } from '#platform/http/api/view-of.js';
import { ACCESS } from '../access.view.js';

/** A consent on the wire; `revoked_at` is null while it is active. */
@ApiSchema({ name: 'Consent' })
export class ConsentView extends viewOf<ConsentEntity>()({
  ...ACCESS,
  purposes: listOf(text(), { description: 'What the client said the data are for: names of purposes.' }),
  words_changed: listOf(text(), {
    description: 'Scopes whose meaning has changed since: the user is asked again.',
  }),
  granted_at: time(),
  expires_at: orNull(time('When it ends unless the user renews it; null: never.')),
  revoked_at: orNull(time('Null while it is active.')),
  evidence: orNull(text('The proof of the consent that an operator holds.')),
}) {}
