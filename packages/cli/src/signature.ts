import { createHmac, randomBytes } from 'node:crypto';

const PREFIX = 'whsec_';
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

export const newSigningSecret = (): string => PREFIX + randomBytes(32).toString('base64');

/** The key in a signing secret; undefined if it is not one. */
export function signingKeyOf(secret: string): Buffer | undefined {
  const text = secret.slice(PREFIX.length);
  if (!secret.startsWith(PREFIX) || !BASE64.test(text)) return undefined;
  const key = Buffer.from(text, 'base64');
  return key.length >= 24 && key.length <= 64 ? key : undefined;
}

/** The headers of a message as in Standard Webhooks 1.0. */
export function signed(secret: string, id: string, seconds: number, body: string): Record<string, string> {
  const mac = createHmac('sha256', signingKeyOf(secret)!).update(`${id}.${seconds}.${body}`).digest('base64');
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${mac}`,
  };
}
