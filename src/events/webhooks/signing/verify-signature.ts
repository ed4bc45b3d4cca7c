import { timingSafeEqual } from 'node:crypto';
import { signatureOf, signingKeyOf } from './sign-delivery.js';

/** The three headers by their names, in any case. */
export type SignatureHeaders = Readonly<Record<string, string | undefined>>;

/** A matching signature that is this old, or this far ahead, would be rejected by a receiver. */
export type TimestampWarning = 'timestamp_too_old' | 'timestamp_too_new';

export type SignatureProblem =
  | 'missing_id'
  | 'missing_timestamp'
  | 'missing_signature'
  | 'malformed_timestamp'
  | 'malformed_signature'
  | 'no_match';

/** Whether a signature matches, and if not, why not. */
export type SignatureCheck =
  | { matches: true; warning?: TimestampWarning }
  | { matches: false; problem: SignatureProblem; warning?: TimestampWarning };

/** Standard Webhooks 1.0 leaves the tolerance open; its libraries use five minutes. */
const TOLERANCE_S = 5 * 60;

/**
 * Whether one of the signatures was made with one of the secrets for this id, timestamp and body. A timestamp that is more than
 * five minutes off is only a warning, so that old deliveries can be examined.
 */
export function verifySignature(
  secrets: readonly string[],
  headers: SignatureHeaders,
  body: string,
  now = Date.now(),
): SignatureCheck {
  const [id, timestamp, signature] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    headerOf(headers, name),
  );
  if (!id) return { matches: false, problem: 'missing_id' };
  if (!timestamp) return { matches: false, problem: 'missing_timestamp' };
  if (!signature) return { matches: false, problem: 'missing_signature' };
  if (!/^\d{1,12}$/.test(timestamp)) return { matches: false, problem: 'malformed_timestamp' };
  const late = Math.floor(now / 1000) - Number(timestamp);
  const warning: { warning?: TimestampWarning } =
    Math.abs(late) <= TOLERANCE_S ? {} : { warning: late > 0 ? 'timestamp_too_old' : 'timestamp_too_new' };
  const given = signaturesIn(signature);
  if (given === undefined) return { matches: false, problem: 'malformed_signature', ...warning };
  const right = secrets.map((secret) => signatureOf(signingKeyOf(secret), { id, timestamp, body }));
  const matches = given.some((each) => right.some((expected) => timingSafeEqual(each, expected)));
  return matches ? { matches, ...warning } : { matches, problem: 'no_match', ...warning };
}

/** All `v1` signatures; undefined if it is missing, or one is not 32 bytes in base64. Other versions are skipped. */
function signaturesIn(header: string): Buffer[] | undefined {
  const parts = header.split(/\s+/).filter((part) => !/^v(?!1,)\w*,/.test(part));
  const signatures = parts.map((part) =>
    /^v1,[A-Za-z0-9+/]{43}=$/.test(part) ? Buffer.from(part.slice(3), 'base64') : undefined,
  );
  const wellFormed = signatures.filter((each) => each !== undefined);
  return wellFormed.length > 0 && wellFormed.length === signatures.length ? wellFormed : undefined;
}

function headerOf(headers: SignatureHeaders, name: string): string | undefined {
  const found = Object.entries(headers).find(([given]) => given.toLowerCase() === name);
  return found?.[1]?.trim();
}
