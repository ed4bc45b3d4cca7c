import type { VersionWithWords } from '#access/consents/record/consent-version.entity.js';

/** What a receipt says of one version of a consent; the members follow ISO/IEC TS 27560:2023 where it has them. */
export interface Receipt {
  receipt: 'consent-receipt/1';
  record_id: string;
  /** Counts the versions of a consent from 1. */
  number: number;
  replaces: string | null;
  /** Who keeps the record: the address of this service. */
  issuer: string;
  issued_at: string;
  pii_principal_id: string;
  pii_controller: { name: string; url: string };
  recipient: { client_id: string; name: string | null; organisation: string | null };
  event: { type: string; time: string; method: string; reason: string | null };
  scopes: string[];
  /** What the application said the data are for: names of purposes, whose words are in `words`. */
  purposes: string[];
  valid_from: string;
  valid_until: string | null;
  ended_at: string | null;
  /** The exact words of the page, as JSON in a text, whose bytes have this SHA-256 digest; null if no page was shown. */
  words: { language: string; digest: string; text: string } | null;
  /** The SHA-256 digest of the proof that an operator holds. */
  evidence_digest: string | null;
}

/** A receipt as a JWS in its flattened JSON form (RFC 7515 §7.2.2), with the payload once more for people who read it. */
export interface SignedReceipt {
  receipt: Receipt;
  protected: string;
  payload: string;
  signature: string;
}

export const receiptOf = (
  { version, words }: VersionWithWords,
  issuer: string,
  controller: string,
  now: Date,
): Receipt => ({
  receipt: 'consent-receipt/1',
  record_id: version.id,
  number: version.number,
  replaces: version.replaces,
  issuer,
  issued_at: now.toISOString(),
  pii_principal_id: version.userId,
  pii_controller: { name: controller, url: issuer },
  recipient: { client_id: version.clientId, name: version.clientName, organisation: version.organisation },
  event: {
    type: version.event,
    time: version.recordedAt.toISOString(),
    method: version.method,
    reason: version.reason,
  },
  scopes: version.scopes,
  purposes: version.purposes,
  valid_from: version.grantedAt.toISOString(),
  valid_until: version.validUntil?.toISOString() ?? null,
  ended_at: version.endedAt?.toISOString() ?? null,
  words:
    words === null || !version.wordsDigest
      ? null
      : { language: version.language!, digest: hex(version.wordsDigest), text: words },
  evidence_digest: version.evidenceDigest && hex(version.evidenceDigest),
});

const hex = (digest: Buffer): string => `sha-256:${digest.toString('hex')}`;
