import argon2 from '@node-rs/argon2';
import { atEndOfFile } from './between-files.js';

const { hash, verify } = argon2;
/** The costs that the service asks for, and those that are paid. */
const ASKED = 'm=19456,t=2,p=1';
const PAID = 'm=8,t=1,p=1';
let isCheap = false;

// Once for this process, because spies put back what they found, also later than the end of a file.
argon2.hash = async (password, options, signal) => {
  const { memoryCost, timeCost, parallelism } = options ?? {};
  if (!isCheap || `m=${memoryCost},t=${timeCost},p=${parallelism}` !== ASKED)
    return hash(password, options, signal);
  const made = await hash(password, { memoryCost: 8, timeCost: 1, parallelism: 1 }, signal);
  return made.replace(PAID, ASKED);
};
argon2.verify = (hashed, ...rest) =>
  verify(isCheap && typeof hashed === 'string' ? hashed.replace(ASKED, PAID) : hashed, ...rest);

/**
 * Hashes passwords with the least work, until the end of the file: at full strength each takes longer than the rest of a login. The
 * service in this process asks for the full costs and reads them, also from the hashes; test/unit/secrets.spec.ts has the real ones.
 */
export function hashCheaply(): void {
  isCheap = true;
  atEndOfFile(() => void (isCheap = false));
}
