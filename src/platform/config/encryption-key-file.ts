import { randomBytes } from 'node:crypto';
import { readFile, link, rm, writeFile, access, mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { SettingsError } from './process-environment.js';
import { parseEncryptionKey } from './setting-constraints.js';

/**
 * Creates a folder and its missing parents. The recursive `mkdir` of Node.js never returns on file systems that accept no folders
 * and report ENOENT, such as `/proc`.
 */
export async function makeFolder(folder: string): Promise<void> {
  try {
    return await makeOne(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const above = path.dirname(folder);
  await access(above).catch(() => makeFolder(above));
  // Another process may have created the parent in the meantime, so try once more.
  await makeOne(folder);
}

async function makeOne(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o755 });
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === 'EEXIST' && (await stat(folder)).isDirectory();
    if (!isThere) throw error;
  }
}

/** The development key: created once in `<dataDir>/encryption-key` (mode 0600) and read from there afterwards. */
export async function encryptionKeyOf(dataDir: string): Promise<Buffer> {
  const file = path.join(dataDir, 'encryption-key');
  const text = (await read(file)) ?? (await make(dataDir, file));
  const key = parseEncryptionKey(text.trim());
  if (!key) throw new SettingsError(`DATA_DIR: the file ${file} does not contain 32 bytes in base64.`);
  return key;
}

const read = (file: string): Promise<string | undefined> =>
  readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new SettingsError(`DATA_DIR: the encryption key cannot be read: ${error.message}`);
  });

async function make(dataDir: string, file: string): Promise<string> {
  const draft = `${file}.${process.pid}`;
  try {
    await makeFolder(dataDir);
    await writeFile(draft, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600 });
    // A hard link appears atomically, so the first of two processes wins.
    await link(draft, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  } catch (error) {
    throw new SettingsError(
      `DATA_DIR: the encryption key cannot be stored in ${dataDir}: ${(error as Error).message}`,
    );
  } finally {
    await rm(draft, { force: true });
  }
  return readFile(file, 'utf8');
}
