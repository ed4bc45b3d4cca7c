import { randomBytes } from 'node:crypto';
import { link, readFile, readdir, rename, rm, unlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { makeFolder } from '#platform/config/encryption-key-file.js';
import { processIdentity, UNKNOWN_IDENTITY } from './process-identity.js';

export interface FolderLock {
  /** Releases the lock; safe to call twice. */
  release(): Promise<void>;
}

interface Holder {
  pid: number;
  identity: string;
  since: string;
  released: boolean;
}

const LOCK_FOLDER = 'service-lock';
const MAX_TRIES = 100;

/**
 * Takes the folder for this process, or throws an Error that names the live process that has it. A lock whose
 * process is dead is taken over.
 *
 * The lock is the highest-numbered file of `<folder>/service-lock`. Taking it creates the next number with
 * link(2), which only one process can do; the highest file is never deleted, only marked as released, so two
 * processes that both see a stale lock cannot delete each other's new one.
 */
export async function lockFolder(folder: string): Promise<FolderLock> {
  const locks = path.join(folder, LOCK_FOLDER);
  await makeFolder(locks);
  const identity = (await processIdentity(process.pid)) ?? UNKNOWN_IDENTITY;
  const mine: Holder = { pid: process.pid, identity, since: new Date().toISOString(), released: false };
  for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
    const highest = await highestLock(locks);
    if (highest > 0) {
      const holder = await readHolder(path.join(locks, String(highest)));
      if (holder === 'gone') continue;
      if (holder && (await isLive(holder))) throw new Error(inUseMessage(folder, holder));
    }
    const number = highest + 1;
    if (!(await createLock(locks, number, mine))) continue;
    // A slow process may have created a number that others have already passed.
    if ((await highestLock(locks)) > number) {
      await rm(path.join(locks, String(number)), { force: true });
      continue;
    }
    await removeOlder(locks, number);
    return { release: () => releaseLock(locks, number, mine) };
  }
  throw new Error(
    `The lock of the data folder ${folder} could not be acquired: too many processes try at once.`,
  );
}

async function highestLock(locks: string): Promise<number> {
  const names = await readdir(locks);
  return Math.max(0, ...names.filter((name) => /^\d+$/.test(name)).map(Number));
}

/** The holder in a lock file; 'gone' if the file has disappeared, undefined if it cannot be parsed. */
async function readHolder(file: string): Promise<Holder | 'gone' | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'gone';
    throw error;
  }
  try {
    const holder = JSON.parse(text) as Partial<Holder>;
    return typeof holder.pid === 'number' && holder.pid > 0 ? (holder as Holder) : undefined;
  } catch {
    // Lock files appear atomically; one that cannot be read was corrupted by a crash of the machine.
    return undefined;
  }
}

async function isLive(holder: Holder): Promise<boolean> {
  if (holder.released) return false;
  const now = await processIdentity(holder.pid);
  if (now === undefined) return false;
  return now === UNKNOWN_IDENTITY || holder.identity === UNKNOWN_IDENTITY || now === holder.identity;
}

async function createLock(locks: string, number: number, holder: Holder): Promise<boolean> {
  const whole = path.join(locks, `.new-${randomBytes(8).toString('hex')}`);
  await writeFile(whole, JSON.stringify(holder) + '\n', { flag: 'wx' });
  try {
    await link(whole, path.join(locks, String(number)));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await unlink(whole).catch(() => undefined);
  }
}

async function removeOlder(locks: string, number: number): Promise<void> {
  const older = (await readdir(locks)).filter((name) => /^\d+$/.test(name) && Number(name) < number);
  await Promise.all(older.map((name) => rm(path.join(locks, name), { force: true })));
}

async function releaseLock(locks: string, number: number, holder: Holder): Promise<void> {
  const file = path.join(locks, String(number));
  const current = await readHolder(file).catch(() => undefined);
  if (!current || current === 'gone' || current.released || current.identity !== holder.identity) return;
  const marked = path.join(locks, `.new-${randomBytes(8).toString('hex')}`);
  await writeFile(marked, JSON.stringify({ ...holder, released: true }) + '\n', { flag: 'wx' });
  await rename(marked, file);
}

function inUseMessage(folder: string, holder: Holder): string {
  const who = holder.pid === process.pid ? 'this process' : `the running process ${holder.pid}`;
  return (
    `The data folder ${folder} is already in use by ${who} (since ${holder.since}). ` +
    'Stop it first, or use another data folder.'
  );
}
