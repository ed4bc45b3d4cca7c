import { chmod, lstat, mkdir, stat } from 'node:fs/promises';

/** Where root keeps what the PostgreSQL user must reach, when checkout or data folder are closed to it. */
export const SHARED_BASE = '/var/lib/charging-data-service';

/** True when something is at that path. Other errors than "not there" are thrown. */
export async function exists(file: string): Promise<boolean> {
  try {
    await stat(file);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return false;
    throw error;
  }
}

/**
 * Makes one folder that everyone may enter, whatever the umask. Throws when something is already there that
 * another user could have put there or could change: what is kept inside gets executed.
 */
export async function ensureOpenFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o755 });
    await chmod(folder, 0o755);
    return;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const found = await lstat(folder);
  const ours = found.isDirectory() && (process.getuid === undefined || found.uid === process.getuid());
  if (!ours || (process.platform !== 'win32' && (found.mode & 0o022) !== 0)) {
    throw new Error(`${folder} is not a folder that belongs to this user alone`);
  }
}
