import { hkdfSync } from 'node:crypto';
import { seal, unseal } from '../../secrets/seal.js';

/** A key derived for this purpose only. */
const sealingKey = (encryptionKey: Buffer): Buffer =>
  Buffer.from(hkdfSync('sha256', encryptionKey, '', 'webhook endpoint secret', 32));

/** An endpoint secret as stored: sealed with the service's key and bound to this endpoint. */
export const sealEndpointSecret = (encryptionKey: Buffer, endpointId: string, secret: string): Buffer =>
  seal(sealingKey(encryptionKey), secret, endpointId);

/** The secret sealed for this endpoint, decrypted with any of the service's keys; undefined if none fits. */
export function openEndpointSecret(
  encryptionKeys: readonly Buffer[],
  endpointId: string,
  sealed: Buffer,
): string | undefined {
  for (const key of encryptionKeys) {
    const secret = unseal(sealingKey(key), sealed, endpointId);
    if (secret !== undefined) return secret;
  }
  return undefined;
}
