import { randomBytes } from 'node:crypto';
import { chown, mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Binaries } from './binaries.js';
import type { ClusterHome } from './cluster-home.js';
import { runCommand, whyFailed } from './run-command.js';

/** The bootstrap superuser of every cluster made here. */
export const SUPERUSER = 'postgres';

const TEMPORARY = 'postgres.init-';

/** Deletes what starts that were killed half-way left behind. Requires the folder's lock. */
export async function removeInitLeftovers(home: string): Promise<void> {
  const left = (await readdir(home)).filter((name) => name.startsWith(TEMPORARY));
  // An initdb that outlived its service may still be writing there. Its name is never reused, so a folder that cannot be deleted
  // is left for the next start.
  const options = { recursive: true, force: true, maxRetries: 3 };
  await Promise.all(left.map((name) => rm(path.join(home, name), options).catch(() => undefined)));
}

/**
 * Creates the cluster: runs initdb in a temporary sibling folder and renames it when it is complete. Throws an Error with
 * initdb's last lines. With `sync` false, the new files are not flushed to disk.
 */
export async function initCluster(
  { home, cluster, runAs }: ClusterHome,
  { initdb }: Binaries,
  password: string,
  sync: boolean,
): Promise<void> {
  const temporary = path.join(home, TEMPORARY + randomBytes(8).toString('hex'));
  const [made, passwordFile] = [path.join(temporary, 'cluster'), path.join(temporary, 'password')];
  await mkdir(temporary, { mode: 0o700 });
  try {
    await writeFile(passwordFile, `${password}\n`, { mode: 0o600, flag: 'wx' });
    if (runAs) {
      await chown(passwordFile, runAs.uid, runAs.gid);
      await chown(temporary, runAs.uid, runAs.gid);
    }
    const result = await runCommand(
      initdb,
      [
        `--pgdata=${made}`,
        `--username=${SUPERUSER}`,
        `--pwfile=${passwordFile}`,
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        '--locale=C',
        '--locale-provider=builtin',
        '--builtin-locale=C.UTF-8',
        '--no-instructions',
        ...(sync ? [] : ['--no-sync']),
      ],
      runAs,
    );
    if (result.code !== 0)
      throw new Error(`PostgreSQL's initdb failed for ${cluster}:\n${whyFailed(result)}`);
    await rename(made, cluster);
    if (sync) await syncFolder(home);
  } finally {
    await rm(temporary, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function syncFolder(folder: string): Promise<void> {
  // Windows cannot open a folder to flush it.
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
