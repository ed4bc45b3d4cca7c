import { hash } from 'node:crypto';
import type { JWTPayload } from 'jose';
import { isUrl } from '#platform/config/is-url.js';
import type { ProofRefusal } from '#records/activity/activity.js';

/** Contract §4, in seconds: how old a proof may be, and how far ahead its client's clock. */
export const PROOF_SECONDS = 300;
const CLOCK_AHEAD = 10;
const JTI_MAX = 256;

/** Why a proof is refused, for operators and for its client. */
export interface RefusedProof {
  refused: ProofRefusal;
  description: string;
  /** A nonce, if the proof is to be made again with it. */
  nonce?: string;
}

export const refusedProof = (refused: ProofRefusal, description: string): RefusedProof => ({
  refused,
  description,
});

/** The headers of the answer to a proof that is refused. */
export const proofHeaders = ({ nonce }: RefusedProof): Record<string, string> =>
  nonce === undefined ? {} : { 'dpop-nonce': nonce };

/** What a proof has to be about. */
export interface ProofContext {
  method: string;
  /** In the form of `comparableUrl`. */
  url: string;
  /** The access token that comes with it. */
  token?: string | undefined;
  /** Seconds since 1970. */
  now: number;
}

/** A proof whose claims are right. */
interface AcceptedClaims {
  jti: string;
  iat: number;
}

/** Checks the claims of a proof with a valid signature (RFC 9449 §4.3, 3, 8, 9, 11 and 12a), but for the nonce. */
export function checkClaims(
  { jti, htm, htu, iat, ath }: JWTPayload,
  { method, url, token, now }: ProofContext,
): AcceptedClaims | RefusedProof {
  if (typeof jti !== 'string' || jti === '' || jti.length > JTI_MAX) {
    return refusedProof('proof_malformed', 'The DPoP proof must have a jti of at most 256 characters.');
  }
  if (htm !== method) {
    return refusedProof(
      'proof_of_another_request',
      'The htm of the DPoP proof is not the method of the request.',
    );
  }
  if (typeof htu !== 'string' || comparableUrl(htu) !== url) {
    return refusedProof(
      'proof_of_another_request',
      'The htu of the DPoP proof is not the URL of the request.',
    );
  }
  if (typeof iat !== 'number' || !(iat >= now - PROOF_SECONDS && iat <= now + CLOCK_AHEAD)) {
    return refusedProof(
      'proof_time',
      'The iat of the DPoP proof must be now: at most 5 minutes ago, and 10 seconds ahead.',
    );
  }
  if (token !== undefined && ath !== hash('sha256', token, 'base64url')) {
    return refusedProof(
      'proof_of_another_token',
      'The ath of the DPoP proof is not the digest of the access token.',
    );
  }
  return { jti, iat };
}

/** A URL as RFC 9449 §4.3 compares it: normalised (RFC 3986 §6.2.2 and §6.2.3), without query and fragment; undefined if it is none. */
export function comparableUrl(text: string): string | undefined {
  if (!isUrl(text)) return undefined;
  const { origin, pathname, username, password } = new URL(text);
  if (username !== '' || password !== '') return undefined;
  const path = pathname.replace(/%[0-9a-f]{2}/gi, (octet) => {
    const character = String.fromCharCode(parseInt(octet.slice(1), 16));
    return /[A-Za-z0-9._~-]/.test(character) ? character : octet.toUpperCase();
  });
  return origin + path;
}
