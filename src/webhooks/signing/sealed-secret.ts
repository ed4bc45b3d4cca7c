import { hkdfSync } from 'node:crypto';
import { seal, unseal } from '../../secrets/seal.js';

/** Apart from what else rests on the service's key. */
const sealingKey = (encryptionKey: Buffer): Buffer =>
  Buffer.from(hkdfSync('sha256', encryptionKey, '', 'webhook endpoint secret', 32));

/** The secret of an endpoint as it is kept: sealed under the service's key, and for this endpoint alone. */
export const sealEndpointSecret = (encryptionKey: Buffer, endpointId: string, secret: string): Buffer =>
  seal(sealingKey(encryptionKey), secret, endpointId);

/**
 * The secret that was sealed for this endpoint, with whichever of the service's keys opens it; undefined when none
 * does.
 */
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
