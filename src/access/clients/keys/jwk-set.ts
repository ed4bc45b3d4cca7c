import { createPublicKey, type JsonWebKey } from 'node:crypto';
import type { ApiPropertyOptions } from '@nestjs/swagger';
import { violation, type REFUSED_KEYS, type Violation } from '#platform/http/problems/violation.js';

/** A public key (RFC 7517), as its client named it. */
export interface Jwk {
  kty: string;
  kid?: string;
  alg?: string;
  use?: string;
  crv?: string;
  x?: string;
  y?: string;
  n?: string;
  e?: string;
}

/** Public keys of a client (RFC 7517 §5). */
export interface JwkSet {
  keys: Jwk[];
}

/** The algorithms of signatures that clients may use, for each kind of key (FAPI 2.0 Security Profile §5.4.1). */
export const SIGNATURE_ALGORITHMS = ['PS256', 'ES256', 'EdDSA'];
/** RFC 9864 §2.2: EdDSA with this curve has a name of its own, which some libraries send. */
export const ACCEPTED_ALGORITHMS = [...SIGNATURE_ALGORITHMS, 'Ed25519'];

const KEYS_MAX = 10;
const KID_MAX = 200;
const RSA_BITS = { min: 2048, max: 8192 };
/** RFC 7518 §6.2.2, §6.3.2 and §6.4.1: what only the owner of a key may know. */
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];

/** Why a value is not accepted as a public key; undefined if it is. */
export function keyRefusal(value: unknown): keyof typeof REFUSED_KEYS | undefined {
  if (typeof value !== 'object' || value === null) return 'unsuitable';
  const jwk = value as Jwk;
  if (PRIVATE_MEMBERS.some((name) => name in jwk)) return 'private';
  const isForSigning = jwk.use === undefined || jwk.use === 'sig';
  const isNamed = jwk.kid === undefined || (typeof jwk.kid === 'string' && jwk.kid.length <= KID_MAX);
  if (!isForSigning || !isNamed) return 'unsuitable';
  const algorithm = algorithmOf(jwk);
  const names = algorithm === 'EdDSA' ? ['EdDSA', 'Ed25519'] : [algorithm];
  const isMeantSo = jwk.alg === undefined || names.includes(jwk.alg);
  return algorithm !== undefined && isMeantSo ? undefined : 'unsuitable';
}

/** The algorithm that a key is for; undefined if it is for none of them, or no key. */
export function algorithmOf(jwk: Jwk): string | undefined {
  try {
    // Also finds out whether a point is on its curve.
    const { asymmetricKeyType: type, asymmetricKeyDetails: details } = createPublicKey({
      key: jwk as JsonWebKey,
      format: 'jwk',
    });
    const bits = details?.modulusLength ?? 0;
    if (type === 'rsa') return bits >= RSA_BITS.min && bits <= RSA_BITS.max ? 'PS256' : undefined;
    if (type === 'ec') return details?.namedCurve === 'prime256v1' ? 'ES256' : undefined;
    return type === 'ed25519' ? 'EdDSA' : undefined;
  } catch {
    return undefined;
  }
}

/**
 * What is wrong with a JWK Set: public keys of the accepted kinds, without private members, and with different `kid`; undefined if nothing
 * is. An object, as far as its rule could tell.
 */
export function keySetViolation(value: object): Violation | undefined {
  const keys: unknown = (value as Partial<JwkSet>).keys;
  const isList = Array.isArray(keys) && keys.length >= 1 && keys.length <= KEYS_MAX;
  if (!isList) return violation('jwk_set', { max: KEYS_MAX });
  for (const [index, jwk] of keys.entries()) {
    const why = keyRefusal(jwk);
    if (why) return violation('refused_key', { place: index + 1, why });
  }
  const names = (keys as Jwk[]).flatMap(({ kid }) => (kid === undefined ? [] : [kid]));
  return new Set(names).size === names.length ? undefined : violation('jwk_set', { max: KEYS_MAX });
}

export const JWK_SET_SCHEMA: ApiPropertyOptions = {
  type: 'object',
  description: 'A JWK Set (RFC 7517) of public keys.',
  properties: {
    keys: {
      type: 'array',
      minItems: 1,
      maxItems: KEYS_MAX,
      items: { type: 'object', additionalProperties: true },
    },
  },
  required: ['keys'],
  example: {
    keys: [
      {
        ...{ kty: 'OKP', crv: 'Ed25519', kid: '2026-11' },
        x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
      },
    ],
  },
} as ApiPropertyOptions;
