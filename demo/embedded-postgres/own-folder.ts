import { chmod, lstat, mkdir, stat } from 'node:fs/promises';

/** Where root stores what the PostgreSQL user must reach if it cannot access the checkout or the data folder. */
export const SHARED_BASE = '/var/lib/charging-data-service';

/** Whether something exists at that path. Errors other than "not found" are thrown. */
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
 * Creates a folder that everyone may enter, whatever the umask. Throws if something exists there that another user could have
 * created or could change, because its contents are executed.
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
    throw new Error(`${folder} is not a folder that only this user can access`);
  }
}
