import { Injectable } from '@nestjs/common';
import {
  calculateJwkThumbprint,
  compactVerify,
  decodeJwt,
  decodeProtectedHeader,
  importJWK,
  type CryptoKey,
  type JWK,
  type JWTPayload,
} from 'jose';
import { LRUCache } from 'lru-cache';
import { ACCEPTED_ALGORITHMS, algorithmOf, keyRefusal, type Jwk } from '#access/clients/keys/jwk-set.js';
import { UsedProofs } from '#access/clients/proofs/used-proofs.service.js';
import { upTo } from '#platform/config/cache-capacity.js';
import { Settings } from '#platform/config/settings.js';
import { AccessChanges } from '#platform/database/changes/access-changes.service.js';
import { DpopNonces } from './dpop-nonces.js';
import {
  checkClaims,
  comparableUrl,
  PROOF_SECONDS,
  refusedProof,
  type RefusedProof,
} from './proof-claims.js';

const TYPE = 'dpop+jwt';
// A client has the same header each time, so its key need not be read anew.
const KNOWN_KEYS = upTo(2_000);
const KNOWN_HEADER_MAX = 1_500;

/** The request that a proof comes with. */
export interface RequestWithProof {
  method: string;
  /** The path, with the query. */
  url: string;
  headers: Record<string, string | string[] | undefined>;
}

/** The key that a proof was made with. */
interface ProofKey {
  key: CryptoKey | Uint8Array;
  /** Its SHA-256 thumbprint (RFC 7638) in base64url. */
  jkt: string;
}

/** Proofs of possession of a key (RFC 9449): the twelve checks of §4.3. Each proof is accepted once, at all instances together. */
@Injectable()
export class DpopProofs {
  private readonly knownKeys = new LRUCache<string, ProofKey>(KNOWN_KEYS);
  private readonly nonces: DpopNonces | undefined;

  constructor(
    private readonly used: UsedProofs,
    private readonly changes: AccessChanges,
    private readonly settings: Settings,
  ) {
    this.nonces = settings.dpopNonce ? new DpopNonces(settings.encryptionKeys) : undefined;
  }

  /** Whether a request has a proof, whatever it is worth. */
  isIn({ headers }: RequestWithProof): boolean {
    return headers['dpop'] !== undefined;
  }

  /**
   * The thumbprint of the key that the proof of a request was made with, or why the proof is refused. With an access token, the proof has to
   * be about it, and made with the key that it is bound to.
   */
  async check(
    request: RequestWithProof,
    access?: { token: string; jkt: string },
  ): Promise<{ jkt: string } | RefusedProof> {
    const proof = request.headers['dpop'];
    // §4.3, 1.
    if (proof === undefined) return refusedProof('proof_missing', 'A DPoP proof is required.');
    // Node.js joins several headers of this name with a comma, which no JWT contains.
    if (typeof proof !== 'string' || proof.includes(',')) {
      return refusedProof('proof_malformed', 'There must be one DPoP header.');
    }
    const read = await this.read(proof);
    if ('refused' in read) return read;
    const { claims, jkt } = read;
    const now = this.changes.databaseNow / 1000;
    const { method, url } = request;
    const context = {
      method,
      url: comparableUrl(this.settings.baseUrl + url) ?? '',
      token: access?.token,
      now,
    };
    const checked = checkClaims(claims, context);
    if ('refused' in checked) return checked;
    // §4.3, 10.
    const nonce = this.nonces?.insteadOf(claims.nonce, now);
    if (nonce !== undefined) {
      return { ...refusedProof('proof_nonce', 'The DPoP proof must have the nonce of DPoP-Nonce.'), nonce };
    }
    // §4.3, 12b.
    if (access && access.jkt !== jkt) {
      return refusedProof(
        'proof_of_another_key',
        'The access token is bound to another key than that of the DPoP proof.',
      );
    }
    const { jti, iat } = checked;
    if (!(await this.used.use(['dpop', jkt, jti], iat + PROOF_SECONDS - now))) {
      return refusedProof('proof_used', 'A DPoP proof with this jti was used already.');
    }
    return { jkt };
  }

  /** The claims and the key of a proof with a valid signature (§4.3, 2 and 4 to 7). */
  private async read(proof: string): Promise<{ claims: JWTPayload; jkt: string } | RefusedProof> {
    try {
      const head = proof.slice(0, proof.indexOf('.'));
      const known = this.knownKeys.get(head);
      const found = known ?? (await keyIn(proof));
      if ('refused' in found) return found;
      await compactVerify(proof, found.key, { algorithms: ACCEPTED_ALGORITHMS });
      const claims = decodeJwt(proof);
      if (!known && head.length <= KNOWN_HEADER_MAX) this.knownKeys.set(head, found);
      return { claims, jkt: found.jkt };
    } catch {
      return refusedProof('proof_signature', 'The DPoP proof is no JWT with a valid signature of its jwk.');
    }
  }
}

/** The key in the header of a proof. Throws if there is no header. */
async function keyIn(proof: string): Promise<ProofKey | RefusedProof> {
  const { typ, alg, jwk, crit, b64 } = decodeProtectedHeader(proof) as Record<string, unknown>;
  if (typ !== TYPE || crit !== undefined || b64 !== undefined) {
    return refusedProof('proof_malformed', 'The typ of the DPoP proof must be dpop+jwt.');
  }
  if (typeof alg !== 'string' || !ACCEPTED_ALGORITHMS.includes(alg)) {
    return refusedProof('proof_key', 'The alg of the DPoP proof must be PS256, ES256 or EdDSA.');
  }
  const algorithm = keyRefusal(jwk) === undefined ? algorithmOf(jwk as Jwk) : undefined;
  if (algorithm === undefined || algorithm !== (alg === 'Ed25519' ? 'EdDSA' : alg)) {
    return refusedProof('proof_key', 'The jwk of the DPoP proof must be a public key for its alg.');
  }
  const { kty, crv, x, y, n, e } = jwk as JWK;
  const bare = Object.fromEntries(
    Object.entries({ kty, crv, x, y, n, e }).filter(([, value]) => value !== undefined),
  ) as JWK;
  return { key: await importJWK(bare, alg), jkt: await calculateJwkThumbprint(bare) };
}
