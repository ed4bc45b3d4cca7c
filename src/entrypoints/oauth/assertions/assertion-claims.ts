import type { JWTPayload } from 'jose';
import type { CredentialsRefusal } from '#records/activity/activity.js';

/** FAPI 2.0 §5.3.2.1, in seconds: how far ahead an assertion may end, and how far ahead its client's clock may be. */
const LIFETIME_MAX = 600;
const CLOCK_AHEAD = 60;
const JTI_MAX = 256;

/** Why an assertion with a valid signature is refused: for operators, and for its client. */
interface ClaimsRefusal {
  reason: CredentialsRefusal;
  description: string;
}

const refusal = (reason: CredentialsRefusal, description: string): ClaimsRefusal => ({ reason, description });

/**
 * What is wrong with the claims of an assertion (RFC 7523 §3), besides whose it is; undefined if nothing is. `now`: seconds since 1970.
 */
export function claimsRefusal(
  { aud, exp, iat, nbf, jti }: JWTPayload,
  issuer: string,
  now: number,
): ClaimsRefusal | undefined {
  // A list could name other servers, any of which could then use the assertion here.
  if (aud !== issuer) {
    return refusal('assertion_audience', `The aud of the assertion must be ${issuer}, as one string.`);
  }
  if (!isTime(exp)) return refusal('assertion_times', 'The assertion has no exp.');
  if (exp <= now) return refusal('assertion_expired', 'The assertion has expired.');
  if (exp > now + LIFETIME_MAX) {
    return refusal('assertion_times', 'The exp of the assertion must be at most 10 minutes ahead.');
  }
  for (const begin of [iat, nbf]) {
    if (begin === undefined) continue;
    if (!isTime(begin) || begin > now + CLOCK_AHEAD) {
      return refusal('assertion_times', 'The iat and nbf of the assertion must not be in the future.');
    }
  }
  if (typeof jti !== 'string' || jti === '' || jti.length > JTI_MAX) {
    return refusal('assertion_without_id', 'The assertion must have a jti of at most 256 characters.');
  }
  return undefined;
}

const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
