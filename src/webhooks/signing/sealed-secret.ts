import { hkdfSync } from 'node:crypto';
import { seal, unseal } from '../../secrets/seal.js';

/** What is sealed, each with a key derived for it only. */
const PURPOSES = { secret: 'webhook endpoint secret', headers: 'webhook endpoint headers' };
type Purpose = keyof typeof PURPOSES;

const sealingKey = (encryptionKey: Buffer, purpose: Purpose): Buffer =>
  Buffer.from(hkdfSync('sha256', encryptionKey, '', PURPOSES[purpose], 32));

/** An endpoint secret, or the values of its headers, as stored: sealed with the service's key and bound to this endpoint. */
export const sealEndpointSecret = (
  encryptionKey: Buffer,
  endpointId: string,
  secret: string,
  purpose: Purpose = 'secret',
): Buffer => seal(sealingKey(encryptionKey, purpose), secret, endpointId);

/** What is sealed for this endpoint, decrypted with any of the service's keys; undefined if none fits. */
export function openEndpointSecret(
  encryptionKeys: readonly Buffer[],
  endpointId: string,
  sealed: Buffer,
  purpose: Purpose = 'secret',
): string | undefined {
  for (const key of encryptionKeys) {
    const secret = unseal(sealingKey(key, purpose), sealed, endpointId);
    if (secret !== undefined) return secret;
  }
  return undefined;
}
