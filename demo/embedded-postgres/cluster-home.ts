import { createHash } from 'node:crypto';
import { readFile, readdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ensureOpenFolder, exists, SHARED_BASE } from './own-folder.js';
import { canEnter, ensurePostgresUser, isRoot } from './postgres-user.js';
import type { RunAs } from './run-command.js';

/** Where the cluster lives and as whom PostgreSQL runs. */
export interface ClusterHome {
  /** The folder of the cluster: the data folder, or its substitute below {@link SHARED_BASE}. */
  home: string;
  /** PostgreSQL's own data directory; may not exist yet. */
  cluster: string;
  /** Set when this process is root. */
  runAs: RunAs | undefined;
}

const NOTE = 'postgres-is-elsewhere.txt';

/**
 * Finds the cluster of a data folder (a real, absolute path), or the place for a new one. Throws an Error when
 * the cluster that the folder points to is gone, is not a cluster, or has an owner that cannot run it.
 */
export async function findClusterHome(dataDir: string, say: (line: string) => void): Promise<ClusterHome> {
  const noted = await readNote(dataDir);
  const known = noted ?? path.join(dataDir, 'postgres');
  if (await isCluster(known)) {
    return { home: path.dirname(known), cluster: known, runAs: await ownerOf(known) };
  }
  if (noted) {
    throw new Error(
      `The database of ${dataDir} was stored in ${noted} according to ${path.join(dataDir, NOTE)}, but it is not there. ` +
        'Restore it, or delete that file to start with an empty database.',
    );
  }
  if (!isRoot()) return { home: dataDir, cluster: known, runAs: undefined };
  const runAs = await ensurePostgresUser(say);
  if (await canEnter(dataDir, runAs)) return { home: dataDir, cluster: known, runAs };
  return standIn(dataDir, runAs, say);
}

async function standIn(dataDir: string, runAs: RunAs, say: (line: string) => void): Promise<ClusterHome> {
  const hash = createHash('sha256').update(dataDir).digest('hex').slice(0, 32);
  const home = path.join(SHARED_BASE, 'clusters', hash);
  try {
    for (const folder of [SHARED_BASE, path.dirname(home), home]) await ensureOpenFolder(folder);
  } catch (error) {
    throw new Error(
      `The user "${runAs.name}" cannot enter the data folder ${dataDir}, and ${home} cannot be used instead: ` +
        `${(error as Error).message}. Choose a data folder that every user can enter.`,
    );
  }
  const cluster = path.join(home, 'postgres');
  say(`The user "${runAs.name}" cannot enter ${dataDir}: the database files are stored in ${cluster}`);
  // An earlier start may have created it and been killed before it wrote the note.
  const owner = (await isCluster(cluster)) ? await ownerOf(cluster) : runAs;
  return { home, cluster, runAs: owner };
}

/** Leaves a note in the data folder when its cluster is somewhere else; call once the cluster exists. */
export async function noteClusterHome(dataDir: string, { home, cluster }: ClusterHome): Promise<void> {
  const note = path.join(dataDir, NOTE);
  if (home === dataDir || (await exists(note))) return;
  const text =
    'The database files of this data folder are stored elsewhere, because the user that PostgreSQL runs as';
  await writeFile(
    note,
    `${text}\ncannot enter it. They are in the folder on the next line. Keep both folders together.\n${cluster}\n`,
  );
}

async function readNote(dataDir: string): Promise<string | undefined> {
  const note = path.join(dataDir, NOTE);
  if (!(await exists(note))) return undefined;
  const place = (await readFile(note, 'utf8')).trimEnd().split('\n').at(-1) ?? '';
  if (!path.isAbsolute(place))
    throw new Error(`The last line of ${note} is not the path of the database files.`);
  return place;
}

/** True for an existing cluster, false for nothing or an empty folder; anything else throws. */
async function isCluster(folder: string): Promise<boolean> {
  if (!(await exists(folder))) return false;
  try {
    if (await exists(path.join(folder, 'PG_VERSION'))) return true;
    if ((await readdir(folder)).length === 0) return false;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error;
    const { uid } = await stat(folder);
    throw new Error(
      `The database files in ${folder} belong to another user (uid ${uid}). ` +
        'Start the service as that user or as root, or choose another data folder.',
    );
  }
  throw new Error(
    `The folder ${folder} cannot be used: it is not empty and contains no PostgreSQL database.`,
  );
}

async function ownerOf(cluster: string): Promise<RunAs | undefined> {
  const { uid, gid } = await stat(cluster);
  if (isRoot() && uid === 0) {
    throw new Error(
      `The database files in ${cluster} belong to root, and PostgreSQL refuses to run as root. ` +
        `Give them to an ordinary user, for example: chown -R postgres: '${cluster}'`,
    );
  }
  return isRoot() ? { uid, gid, name: `uid ${uid}` } : undefined;
}
