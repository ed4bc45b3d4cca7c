import argon2 from '@node-rs/argon2';
import { atEndOfFile } from './between-files.js';

const real = { hash: argon2.hash, verify: argon2.verify };
/** The costs that the service asks for, and those that are paid. */
const ASKED = 'm=19456,t=2,p=1';
const PAID = 'm=8,t=1,p=1';

/**
 * Hashes passwords with the least work, until the end of the file: at full strength each takes longer than the rest of a login. The
 * service in this process asks for the full costs and reads them, also from the hashes; test/unit/secrets.spec.ts has the real ones.
 */
export function hashCheaply(): void {
  if (argon2.hash !== real.hash) return;
  argon2.hash = async (password, options, signal) => {
    const { memoryCost, timeCost, parallelism } = options ?? {};
    if (`m=${memoryCost},t=${timeCost},p=${parallelism}` !== ASKED)
      return real.hash(password, options, signal);
    const hash = await real.hash(password, { memoryCost: 8, timeCost: 1, parallelism: 1 }, signal);
    return hash.replace(PAID, ASKED);
  };
  argon2.verify = (hash, ...rest) =>
    real.verify(typeof hash === 'string' ? hash.replace(ASKED, PAID) : hash, ...rest);
  atEndOfFile(() => void Object.assign(argon2, real));
}
