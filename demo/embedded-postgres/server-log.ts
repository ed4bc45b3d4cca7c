import { open, rename, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { lastLines } from './run-command.js';

const TAIL_BYTES = 16 * 1024;

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
export async function tailOf(file: string): Promise<string> {
  try {
    const handle = await open(file, 'r');
    try {
      const { size } = await handle.stat();
      const length = Math.min(size, TAIL_BYTES);
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, size - length);
      return lastLines(buffer.toString('utf8', 0, bytesRead));
    } finally {
      await handle.close();
    }
  } catch {
    return '';
  }
}
