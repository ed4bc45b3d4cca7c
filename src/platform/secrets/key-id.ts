import { purposeKey } from './purpose-key.js';

/** Identifies a key without revealing it: eight hexadecimal digits derived from it. */
export const keyIdOf = (key: Buffer): string => purposeKey('key id', key).toString('hex', 0, 4);
