import { hkdfSync } from 'node:crypto';
import { seal, unseal } from '../../secrets/seal.js';
import type { AuthenticationRequest } from '../protocol/authentication.service.js';

/** A key derived for this purpose only. */
const sealingKey = (encryptionKey: Buffer): Buffer =>
  Buffer.from(hkdfSync('sha256', encryptionKey, '', 'provider sign-in', 32));

/** The nonce and the verifier as stored: sealed, and bound to the state. */
export const sealRequest = (encryptionKey: Buffer, { state, ...rest }: AuthenticationRequest): Buffer =>
  seal(sealingKey(encryptionKey), JSON.stringify(rest), state);

/** The request sealed for this state, opened with any of the service's keys; undefined if none fits. */
export function openRequest(
  encryptionKeys: readonly Buffer[],
  state: string,
  sealed: Buffer,
): AuthenticationRequest | undefined {
  for (const key of encryptionKeys) {
    const text = unseal(sealingKey(key), sealed, state);
    if (text !== undefined) return { state, ...(JSON.parse(text) as Omit<AuthenticationRequest, 'state'>) };
  }
  return undefined;
}
