import { readFile } from 'node:fs/promises';
import path from 'node:path';

/** The contents of the postmaster.pid of a running server. */
export interface PostmasterPid {
  pid: number;
  port: number;
  /** 'starting', 'ready', 'stopping'…; empty at first. */
  status: string;
}

/** The path of a cluster's postmaster.pid. */
export function postmasterPidFile(cluster: string): string {
  return path.join(cluster, 'postmaster.pid');
}

/** The cluster's postmaster.pid; undefined if it is missing or contains no pid. */
export async function readPostmasterPid(cluster: string): Promise<PostmasterPid | undefined> {
  let text: string;
  try {
    text = await readFile(postmasterPidFile(cluster), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const lines = text.split('\n');
  // A stand-alone backend writes its pid with a minus sign.
  const pid = Math.abs(Number(lines[0]));
  if (!Number.isSafeInteger(pid) || pid === 0) return undefined;
  return { pid, port: Number(lines[3] ?? 0), status: (lines[7] ?? '').trim() };
}
