import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { idOf, orNull, scopeNames, text, time } from '../http/api-schemas.js';
import type { ConsentEntity } from '../consents/consent.entity.js';

/** A consent on the wire; `revoked_at` is null while it is active. */
@ApiSchema({ name: 'Consent' })
export class ConsentView {
  @ApiProperty(idOf('clnt'))
  client_id!: string;

  @ApiProperty(idOf('user'))
  user_id!: string;

  @ApiProperty(scopeNames())
  scopes!: string[];

  @ApiProperty(time())
  granted_at!: string;

  @ApiProperty(orNull(time('Null while it is active.')))
  revoked_at!: string | null;

  @ApiProperty(orNull(text('The proof of the consent that an operator holds.')))
  evidence!: string | null;
}

export const consentView = (consent: ConsentEntity): ConsentView => ({
  client_id: consent.clientId,
  user_id: consent.userId,
  scopes: consent.scopes,
  granted_at: consent.grantedAt.toISOString(),
  revoked_at: consent.revokedAt?.toISOString() ?? null,
  evidence: consent.evidence,
});
