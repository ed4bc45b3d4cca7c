import { access, mkdir, stat } from 'node:fs/promises';
import path from 'node:path';

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
