import { hkdfSync } from 'node:crypto';
import { safeReturnTo } from '../../http/forms/return-to.js';
import { seal, unseal } from '../../secrets/seal.js';

/** A key derived for this purpose only. */
const sealingKey = (encryptionKey: Buffer): Buffer =>
  Buffer.from(hkdfSync('sha256', encryptionKey, '', 'return through mail', 32));

const dataOf = (linkDigest: Buffer): string => linkDigest.toString('base64url');

/** Where a person goes on after a mailed link, as stored with the link: sealed, and bound to it. */
export const sealReturn = (
  encryptionKey: Buffer,
  linkDigest: Buffer,
  returnTo: string | undefined,
): Buffer | null =>
  returnTo === undefined ? null : seal(sealingKey(encryptionKey), returnTo, dataOf(linkDigest));

/** The path sealed for this link, opened with any of the service's keys; undefined if there is none, or it is not ours. */
export function openReturn(
  encryptionKeys: readonly Buffer[],
  linkDigest: Buffer,
  sealed: Buffer | null,
): string | undefined {
  if (!sealed) return undefined;
  for (const key of encryptionKeys) {
    const returnTo = unseal(sealingKey(key), sealed, dataOf(linkDigest));
    if (returnTo !== undefined) return safeReturnTo(returnTo);
  }
  return undefined;
}
