import { createHmac, createSecretKey, randomBytes, sign, type KeyObject } from 'node:crypto';

/** Standard Webhooks 1.0: `v1` by a shared secret, `v1a` by a key pair. */
export const SIGNATURE_VERSIONS = ['v1', 'v1a'] as const;
export type SignatureVersion = (typeof SIGNATURE_VERSIONS)[number];
export const SIGNATURE_OPTIONS = [
  {
    value: 'v1',
    label: 'v1: by the secret',
    hint: 'HMAC-SHA256. Every library of Standard Webhooks checks it.',
  },
  {
    value: 'v1a',
    label: 'v1a: by our key',
    hint: 'Ed25519. You need no secret of ours, only the public key.',
  },
];
export const isSignatureVersion = (value: string): value is SignatureVersion =>
  SIGNATURE_VERSIONS.includes(value as SignatureVersion);

/** As they are stored. */
export const inOrder = (versions: readonly SignatureVersion[]): SignatureVersion[] =>
  SIGNATURE_VERSIONS.filter((version) => versions.includes(version));

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** A new endpoint secret: `whsec_` and 32 random bytes in base64 (contract §10, Standard Webhooks 1.0). */
export const makeEndpointSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString('base64');

/** The signing key of a secret; throws for anything else, without quoting it. */
export function signingKeyOf(secret: string): KeyObject {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  if (PREFIX + key.toString('base64') !== secret || key.length !== SECRET_BYTES) {
    throw new Error('This is not an endpoint secret.');
  }
  // Node.js 24 takes 10 µs longer to sign with a buffer.
  return createSecretKey(key);
}

/** What is signed: the `webhook-id`, the `webhook-timestamp` in seconds since 1970, and the body as sent. */
export interface SignedDelivery {
  id: string;
  timestamp: number | string;
  body: string;
}

/** The HMAC-SHA256 of a delivery under the key of one secret, 32 bytes (Standard Webhooks 1.0, symmetric signatures). */
export const signatureOf = (key: KeyObject, { id, timestamp, body }: SignedDelivery): Buffer =>
  createHmac('sha256', key).update(`${id}.${timestamp}.${body}`, 'utf8').digest();

/** What is signed, as bytes. */
export const signedContent = ({ id, timestamp, body }: SignedDelivery): Buffer =>
  Buffer.from(`${id}.${timestamp}.${body}`, 'utf8');

/**
 * The value of `webhook-signature`: `v1,…` for each valid secret and `v1a,…` for each key pair, separated by spaces (contract §10, §22).
 */
export const signDelivery = (
  secrets: readonly KeyObject[],
  delivery: SignedDelivery,
  pairs: readonly KeyObject[] = [],
): string =>
  [
    ...secrets.map((key) => `v1,${signatureOf(key, delivery).toString('base64')}`),
    ...pairs.map((key) => `v1a,${sign(null, signedContent(delivery), key).toString('base64')}`),
  ].join(' ');
