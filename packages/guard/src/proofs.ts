import { hash } from 'node:crypto';
import { calculateJwkThumbprint, compactVerify, EmbeddedJWK, type JWK, type JWTPayload } from 'jose';
import { PROOF_ALGORITHMS } from './metadata.js';
import { ReplaysInMemory, type ProofReplays } from './replays.js';

/** The newer name of EdDSA with Ed25519 (RFC 9864). */
const ACCEPTED = [...PROOF_ALGORITHMS, 'Ed25519'];
// In seconds, as the service has it: how old a proof may be, and how far ahead its client's clock.
const PROOF_SECONDS = 300;
const CLOCK_AHEAD = 10;
const JTI_MAX = 256;
const PROOF_MAX = 8_192;

/** What a proof has to be about. */
export interface ProofContext {
  /** The headers `DPoP` of the request; Node.js joins several with a comma. */
  proof: string | readonly string[] | undefined;
  method: string | undefined;
  /** The public URL of the request. */
  url: string;
  token: string;
  /** The thumbprint of the key that the token is bound to. */
  jkt: string;
}

/** Proofs of possession of a key (RFC 9449): the checks of §4.3 for a request with an access token. */
export class Proofs {
  private readonly replays: ProofReplays;

  constructor(replays: ProofReplays | undefined) {
    this.replays = replays ?? new ReplaysInMemory(PROOF_SECONDS + CLOCK_AHEAD);
  }

  /** Why the proof is refused; undefined if it is good, and used up from now on. Rejects if its use cannot be known. */
  async refusalOf({ proof, method, url, token, jkt }: ProofContext): Promise<string | undefined> {
    if (proof === undefined || proof.length === 0) return 'A DPoP proof is required.';
    if (typeof proof !== 'string' || proof.includes(',')) return 'There must be one DPoP header.';
    const read = proof.length <= PROOF_MAX ? await readProof(proof) : undefined;
    if (!read) return 'The DPoP proof is no JWT of the type dpop+jwt with a valid signature of its jwk.';
    const { claims } = read;
    const { jti, htm, htu, iat, ath } = claims;
    const now = Date.now() / 1000;
    if (typeof jti !== 'string' || jti === '' || jti.length > JTI_MAX)
      return 'The DPoP proof must have a jti of at most 256 characters.';
    if (method === undefined || htm !== method)
      return 'The htm of the DPoP proof is not the method of the request.';
    if (
      typeof htu !== 'string' ||
      comparableUrl(htu) === undefined ||
      comparableUrl(htu) !== comparableUrl(url)
    )
      return 'The htu of the DPoP proof is not the URL of the request.';
    if (typeof iat !== 'number' || !(iat >= now - PROOF_SECONDS && iat <= now + CLOCK_AHEAD))
      return 'The iat of the DPoP proof must be now: at most 5 minutes ago, and 10 seconds ahead.';
    if (ath !== hash('sha256', token, 'base64url'))
      return 'The ath of the DPoP proof is not the digest of the access token.';
    if (read.jkt !== jkt) return 'The access token is bound to another key than that of the DPoP proof.';
    const id = hash('sha256', JSON.stringify([jkt, jti]), 'base64url');
    const isFirst = await this.replays.use(id, Math.max(1, Math.ceil(iat + PROOF_SECONDS - now)));
    return isFirst === true ? undefined : 'A DPoP proof with this jti was used already.';
  }
}

/** The claims and the thumbprint of the key of a proof with a valid signature; undefined for anything else. */
async function readProof(proof: string): Promise<{ claims: JWTPayload; jkt: string } | undefined> {
  try {
    // Refuses keys with private members, symmetric ones, and RSA keys of less than 2048 bits.
    const { payload, protectedHeader } = await compactVerify(proof, EmbeddedJWK, { algorithms: ACCEPTED });
    const { typ, crit, jwk } = protectedHeader;
    if (typ !== 'dpop+jwt' || crit !== undefined) return undefined;
    const claims = JSON.parse(Buffer.from(payload).toString('utf8')) as JWTPayload | null;
    return claims === null ? undefined : { claims, jkt: await calculateJwkThumbprint(jwk as JWK) };
  } catch {
    return undefined;
  }
}

/** A URL as RFC 9449 §4.3 compares it: normalised (RFC 3986 §6.2.2 and §6.2.3), without query and fragment; undefined if it is none. */
function comparableUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { origin, pathname, username, password } = new URL(text);
  if (username !== '' || password !== '') return undefined;
  const path = pathname.replace(/%[0-9a-f]{2}/gi, (octet) => {
    const character = String.fromCharCode(parseInt(octet.slice(1), 16));
    return /[A-Za-z0-9._~-]/.test(character) ? character : octet.toUpperCase();
  });
  return origin + path;
}
