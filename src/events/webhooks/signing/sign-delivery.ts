import { createHmac, type KeyObject } from 'node:crypto';

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
