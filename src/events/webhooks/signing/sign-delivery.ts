import { createHmac, createSecretKey, randomBytes, type KeyObject } from 'node:crypto';

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

/** The value of `webhook-signature`: one `v1,…` for each valid secret, separated by spaces (contract §10). */
export const signDelivery = (keys: readonly KeyObject[], delivery: SignedDelivery): string =>
  keys.map((key) => `v1,${signatureOf(key, delivery).toString('base64')}`).join(' ');
