import { auditViewOf } from '#records/audit/audit-view.js';
import { ConsentEntity } from './consent.entity.js';

/** What the audit log shows of a consent. */
export const auditView = auditViewOf(
  ConsentEntity,
  {
    clientId: 'client_id',
    scopes: 'scopes',
    purposes: ['purposes', (purposes) => (purposes.length > 0 ? purposes : undefined)],
    wordsChanged: ['words_changed', (scopes) => (scopes.length > 0 ? scopes : undefined)],
    expiresAt: ['expires_at', (expiresAt) => expiresAt?.toISOString()],
    evidence: ['evidence', (evidence) => evidence ?? undefined],
  },
  {
    userId: 'the subject of the event',
    grantedAt: 'the time of consent.granted',
    revokedAt: 'the time of consent.revoked',
    method: 'in the record of consents, as all below',
    reason: 'see method',
    recordedBy: 'see method',
    language: 'see method',
    wordsDigest: 'see method',
  },
);
