import { hkdfSync } from 'node:crypto';
import { seal, unseal } from '../../secrets/seal.js';

// It goes back in an address, and servers take addresses of about 8 kB.
const MAX_LENGTH = 6_000;

/** A key derived for this purpose only. */
const sealingKey = (encryptionKey: Buffer): Buffer =>
  Buffer.from(hkdfSync('sha256', encryptionKey, '', 'provider id token', 32));

/** Whose ID token it is; it opens for nobody else. */
interface Owner {
  provider: string;
  subject: string;
}

const bindingOf = ({ provider, subject }: Owner): string => `${provider} ${subject}`;

/** The ID token as a session keeps it, for logging out at the provider; undefined if it is too long to be sent back. */
export const sealIdToken = (encryptionKey: Buffer, owner: Owner, idToken: string): Buffer | undefined =>
  idToken.length > MAX_LENGTH ? undefined : seal(sealingKey(encryptionKey), idToken, bindingOf(owner));

/** The ID token, opened with any of the service's keys; undefined if none fits. */
export function openIdToken(
  encryptionKeys: readonly Buffer[],
  owner: Owner,
  sealed: Buffer,
): string | undefined {
  for (const key of encryptionKeys) {
    const idToken = unseal(sealingKey(key), sealed, bindingOf(owner));
    if (idToken !== undefined) return idToken;
  }
  return undefined;
}
