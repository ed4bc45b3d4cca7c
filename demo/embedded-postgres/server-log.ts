import { open, readFile, rename, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { lastLines } from './run-command.js';

/** The file `<dataDir>/postgres.log` that the server writes to, so that its log outlives the service. */
export interface ServerLog {
  file: string;
  /** The descriptor to pass to the server; the caller closes the handle after spawning it. */
  handle: FileHandle;
}

/** Opens a new log and keeps the previous one as `postgres.log.1`, so that logs do not grow without limit. */
export async function openServerLog(dataDir: string): Promise<ServerLog> {
  const file = path.join(dataDir, 'postgres.log');
  await rename(file, `${file}.1`).catch(() => undefined);
  return { file, handle: await open(file, 'a', 0o600) };
}

/** The last lines of a log; empty if it cannot be read. */
export const tailOf = async (file: string): Promise<string> =>
  lastLines(await readFile(file, 'utf8').catch(() => ''));
