import { createPublicKey, timingSafeEqual, verify } from 'node:crypto';
import { signatureOf, signedContent, signingKeyOf } from './sign-delivery.js';
import type { PublishedKey } from '#platform/http/api/published-key.js';

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
 * Whether one of the signatures was made with one of the secrets or keys for this id, timestamp and body. A timestamp that is more than
 * five minutes off is only a warning, so that old deliveries can be examined.
 */
export function verifySignature(
  secrets: readonly string[],
  headers: SignatureHeaders,
  body: string,
  now = Date.now(),
  publicKeys: readonly PublishedKey[] = [],
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
  const delivery = { id, timestamp, body };
  const right = secrets.map((secret) => signatureOf(signingKeyOf(secret), delivery));
  const keys = publicKeys.map((jwk) => createPublicKey({ key: { ...jwk }, format: 'jwk' }));
  const content = signedContent(delivery);
  const matches =
    given.v1.some((each) => right.some((expected) => timingSafeEqual(each, expected))) ||
    given.v1a.some((each) => keys.some((key) => verify(null, content, key, each)));
  return matches ? { matches, ...warning } : { matches, problem: 'no_match', ...warning };
}

/** Of each version the characters of base64: 32 bytes, and 64. */
const WRITTEN = { v1: /^[A-Za-z0-9+/]{43}=$/, v1a: /^[A-Za-z0-9+/]{86}==$/ };

/** All `v1` and `v1a` signatures; undefined if there is none, or one of `v1` is not 32 bytes in base64. What else there is is skipped. */
function signaturesIn(header: string): Record<keyof typeof WRITTEN, Buffer[]> | undefined {
  const found = { v1: [] as Buffer[], v1a: [] as Buffer[] };
  for (const part of header.split(/\s+/)) {
    const [, version = '', written = ''] = /^(v\w*),(.*)$/.exec(part) ?? [];
    if (version === 'v1a' && WRITTEN.v1a.test(written)) found.v1a.push(Buffer.from(written, 'base64'));
    else if (version === 'v1' && WRITTEN.v1.test(written)) found.v1.push(Buffer.from(written, 'base64'));
    else if (version === 'v1' || version === '') return undefined;
  }
  return found.v1.length + found.v1a.length > 0 ? found : undefined;
}

function headerOf(headers: SignatureHeaders, name: string): string | undefined {
  const found = Object.entries(headers).find(([given]) => given.toLowerCase() === name);
  return found?.[1]?.trim();
}
