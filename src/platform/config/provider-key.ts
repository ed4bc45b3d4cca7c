import { createPrivateKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** The key with which this service proves to a provider who it is. */
export interface ProviderKey {
  key: KeyObject;
  algorithm: string;
  /** The `kid` of a JWK. */
  id?: string;
}

const CURVES: Record<string, string> = { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' };
// RFC 7518 §3.3.
const RSA_MIN_BITS = 2048;

/** The key in a PEM text (PKCS #8, PKCS #1 or SEC 1), or in a JWK, as text or not; undefined if it cannot be used. */
export function providerKeyIn(value: unknown): ProviderKey | undefined {
  try {
    const jwk = typeof value === 'string' && /^\s*\{/.test(value) ? (JSON.parse(value) as unknown) : value;
    if (typeof jwk === 'string') return usable(createPrivateKey(jwk));
    if (typeof jwk !== 'object' || jwk === null) return undefined;
    const { alg, kid } = jwk as { alg?: unknown; kid?: unknown };
    const key = createPrivateKey({ key: jwk as JsonWebKey, format: 'jwk' });
    return usable(key, alg, typeof kid === 'string' ? kid : undefined);
  } catch {
    return undefined;
  }
}

/** The same from a file; undefined also if that cannot be read. */
export function providerKeyInFile(path: string): ProviderKey | undefined {
  try {
    return providerKeyIn(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

function usable(key: KeyObject, wanted?: unknown, id?: string): ProviderKey | undefined {
  const algorithms = algorithmsOf(key);
  const algorithm = wanted === undefined ? algorithms[0] : algorithms.find((each) => each === wanted);
  return algorithm === undefined ? undefined : { key, algorithm, id };
}

/** The algorithms that the key can be used with; the usual one first. */
function algorithmsOf({ asymmetricKeyType: type, asymmetricKeyDetails: details = {} }: KeyObject): string[] {
  if (type === 'rsa') return (details.modulusLength ?? 0) < RSA_MIN_BITS ? [] : ['RS256', 'PS256'];
  if (type === 'ec') return [CURVES[details.namedCurve ?? '']].filter((each) => each !== undefined);
  // Two names of the same (RFC 9864); fewer providers support the newer one.
  return type === 'ed25519' ? ['EdDSA', 'Ed25519'] : [];
}
