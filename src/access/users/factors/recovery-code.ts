import { createHash, randomInt } from 'node:crypto';

// Crockford's base32: no I, L, O and U, which are easily misread.
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const LENGTH = 16;
const GROUP = 4;

/** A new code with 80 random bits, such as `7k3m-q9ax-0c4d-w2rt`. */
export function newRecoveryCode(): string {
  const letters = Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]!).join('');
  return letters.match(new RegExp(`.{${GROUP}}`, 'g'))!.join('-');
}

/** The code as it was made, whatever it was typed like; undefined for what cannot be one. */
export function readRecoveryCode(typed: string): string | undefined {
  const letters = typed.toLowerCase().replace(/[\s-]/g, '').replaceAll('o', '0').replace(/[il]/g, '1');
  return letters.length === LENGTH && [...letters].every((letter) => ALPHABET.includes(letter))
    ? letters
    : undefined;
}

/** The digest under which a user's code is stored. It is random, so no slow hash is needed. */
export const recoveryCodeDigest = (userId: string, code: string): Buffer =>
  createHash('sha256')
    .update(`recovery code ${userId} ${readRecoveryCode(code)}`)
    .digest();
