import type { ConsentEntity } from '../consents/consent.entity.js';

/** A consent on the wire; `revoked_at` is null while it is live. */
export interface ConsentView {
  client_id: string;
  user_id: string;
  scopes: string[];
  granted_at: string;
  revoked_at: string | null;
  evidence: string | null;
}

export const consentView = (consent: ConsentEntity): ConsentView => ({
  client_id: consent.clientId,
  user_id: consent.userId,
  scopes: consent.scopes,
  granted_at: consent.grantedAt.toISOString(),
  revoked_at: consent.revokedAt?.toISOString() ?? null,
  evidence: consent.evidence,
});
