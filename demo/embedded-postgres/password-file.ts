import { randomBytes } from 'node:crypto';
import { open, readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import { exists } from './own-folder.js';

/**
 * The stored password of the cluster: 32 random bytes as base64url, in `<dataDir>/postgres-password` with mode 0600. Only
 * generated while there is no cluster; afterwards a missing password is an Error.
 */
export async function keptPassword(dataDir: string, clusterExists: boolean): Promise<string> {
  const file = path.join(dataDir, 'postgres-password');
  if (await exists(file)) {
    const password = (await readFile(file, 'utf8')).trim();
    if (password) return password;
  }
  if (clusterExists) {
    throw new Error(
      `${file} is missing or empty, and the database in ${dataDir} cannot be opened without it.`,
    );
  }
  const password = randomBytes(32).toString('base64url');
  const whole = `${file}.${randomBytes(8).toString('hex')}`;
  const handle = await open(whole, 'wx', 0o600);
  try {
    await handle.writeFile(`${password}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(whole, file);
  return password;
}
