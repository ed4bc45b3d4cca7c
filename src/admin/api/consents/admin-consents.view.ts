import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { listOf, orNull, text, time } from '../../../http/api/api-schemas.js';
import type { ConsentEntity } from '../../../consents/consent.entity.js';
import { AccessView, accessView } from '../access.view.js';

/** A consent on the wire; `revoked_at` is null while it is active. */
@ApiSchema({ name: 'Consent' })
export class ConsentView extends AccessView {
  @ApiProperty(listOf(text(), { description: 'What the client said the data are for: names of purposes.' }))
  purposes!: string[];

  @ApiProperty(
    listOf(text(), {
      description: 'Scopes whose words have come to mean something else since: the user is asked anew.',
    }),
  )
  words_changed!: string[];

  @ApiProperty(time())
  granted_at!: string;

  @ApiProperty(orNull(time('When it ends unless the user renews it; null: never.')))
  expires_at!: string | null;

  @ApiProperty(orNull(time('Null while it is active.')))
  revoked_at!: string | null;

  @ApiProperty(orNull(text('The proof of the consent that an operator holds.')))
  evidence!: string | null;
}

export const consentView = (consent: ConsentEntity): ConsentView => ({
  ...accessView(consent),
  purposes: consent.purposes,
  words_changed: consent.wordsChanged,
  granted_at: consent.grantedAt.toISOString(),
  expires_at: consent.expiresAt?.toISOString() ?? null,
  revoked_at: consent.revokedAt?.toISOString() ?? null,
  evidence: consent.evidence,
});
