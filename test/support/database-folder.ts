import { statfsSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { freemem, tmpdir } from 'node:os';
import path from 'node:path';

const IN_MEMORY = '/dev/shm';
/** Of both, the file system and the memory: far more than the databases of a run before a landing take at once, which is about 1 GB. */
const ENOUGH_BYTES = 6 * 2 ** 30;

/** Whether this machine keeps files in memory and has room; the databases of a nightly run are too large. */
function hasRoomInMemory(): boolean {
  if (process.env.NIGHTLY) return false;
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    return bavail * bsize >= ENOUGH_BYTES && freemem() >= ENOUGH_BYTES;
  } catch {
    return false;
  }
}

/**
 * A new folder for a PostgreSQL whose files nobody needs after the run: in memory if possible. A copy of the template is 800 files, and a run
 * makes hundreds of copies.
 */
export const makeDatabaseFolder = (name: string): Promise<string> =>
  mkdtemp(path.join(hasRoomInMemory() ? IN_MEMORY : tmpdir(), `${name}-`));
