import { createHmac } from 'node:crypto';
import { signingKeyOf } from './endpoint-secret.js';

/** What is signed: the `webhook-id`, the `webhook-timestamp` in seconds since 1970, and the body as sent. */
export interface SignedDelivery {
  id: string;
  timestamp: number | string;
  body: string;
}

/** The HMAC-SHA256 of a delivery under one secret, 32 bytes (Standard Webhooks 1.0, symmetric signatures). */
export const signatureOf = (secret: string, { id, timestamp, body }: SignedDelivery): Buffer =>
  createHmac('sha256', signingKeyOf(secret)).update(`${id}.${timestamp}.${body}`, 'utf8').digest();

/** The value of `webhook-signature`: one `v1,…` for each valid secret, separated by spaces (contract §10). */
export const signDelivery = (secrets: readonly string[], delivery: SignedDelivery): string =>
  secrets.map((secret) => `v1,${signatureOf(secret, delivery).toString('base64')}`).join(' ');
