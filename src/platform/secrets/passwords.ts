import argon2 from '@node-rs/argon2';

/** Contract §1: 12 to 256 characters, no other rules. */
export const PASSWORD_MIN = 12;
export const PASSWORD_MAX = 256;

// OWASP's parameters for argon2id, the library's default algorithm: 19 MiB, 2 passes, 1 lane.
const OPTIONS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** The argon2id hash of a password, in PHC text form. */
export const hashPassword = (password: string): Promise<string> =>
  argon2.hash(password.normalize('NFC'), OPTIONS);

let absentHash: Promise<string> | undefined;

/**
 * Whether this is the hashed password. Without a hash (unknown email, no password set) it does the same work and returns false,
 * so that the timing reveals nothing.
 */
export async function verifyPassword(
  passwordHash: string | null | undefined,
  password: string,
): Promise<boolean> {
  absentHash ??= hashPassword('a password that nobody has');
  const known = passwordHash !== null && passwordHash !== undefined;
  // A password over the limit cannot match; hashing part of it keeps the timing the same.
  const tooLong = password.length > PASSWORD_MAX;
  const candidate = (tooLong ? password.slice(0, PASSWORD_MAX) : password).normalize('NFC');
  const right = await argon2.verify(known ? passwordHash : await absentHash, candidate);
  return right && known && !tooLong;
}
