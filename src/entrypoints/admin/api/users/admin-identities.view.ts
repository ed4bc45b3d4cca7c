import { ApiSchema } from '@nestjs/swagger';
import { text, time } from '#platform/http/api/api-schemas.js';
import { viewOf } from '#platform/http/api/view-of.js';
import type { Identity } from '#access/identity-providers/identity.js';

/** A link of a user to an identity provider, on the wire. */
@ApiSchema({ name: 'Identity' })
export class IdentityView extends viewOf<Identity>()({
  provider: text('The provider’s id in the settings.', { example: 'company' }),
  issuer: text(undefined, { example: 'https://login.company.example' }),
  subject: text('The person’s id there.', { example: '248289761001' }),
  linked_at: time(),
  last_used_at: time(),
}) {}
