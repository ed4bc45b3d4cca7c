import { hkdfSync } from 'node:crypto';

/** Identifies a key without revealing it: eight hexadecimal digits derived from it. */
export const keyIdOf = (key: Buffer): string =>
  Buffer.from(hkdfSync('sha256', key, '', 'key id', 4)).toString('hex');
