import { rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { Binaries } from './binaries.js';
import type { ClusterHome } from './cluster-home.js';
import { clusterProcesses } from './cluster-processes.js';
import { postmasterPidFile, readPostmasterPid } from './postmaster-pid.js';
import { pidExists } from './process-identity.js';
import { runCommand } from './run-command.js';

const FAST_MS = 30_000;
const IMMEDIATE_MS = 15_000;
const POLL_MS = 20;

/**
 * Stops a server that a killed service left running on this cluster, and removes a postmaster.pid whose pid now belongs to
 * another process. Requires the folder's lock, because the server of a live service is not a leftover. Throws an Error if the
 * server does not stop.
 */
export async function stopLeftoverServer(
  { cluster }: ClusterHome,
  binaries: Binaries,
  say: (line: string) => void,
): Promise<void> {
  const left = await clusterProcesses(cluster);
  if (left.length > 0) {
    say(`Stopping the PostgreSQL process that an earlier run left running on ${cluster}`);
    await signalServer(cluster, left, 'INT', binaries);
    if (!(await haveEnded(cluster, FAST_MS))) {
      await signalServer(cluster, await clusterProcesses(cluster), 'QUIT', binaries);
      if (!(await haveEnded(cluster, IMMEDIATE_MS))) {
        const pids = (await clusterProcesses(cluster)).join(', ');
        throw new Error(
          `The PostgreSQL process that an earlier run left running on ${cluster} does not stop (pid ${pids}).`,
        );
      }
    }
  }
  const stale = await readPostmasterPid(cluster);
  // PostgreSQL itself handles the pid of a dead process, with better checks. But it takes any process with that pid, even a
  // zombie, for the server, and the check above found that it is not.
  if (stale && pidExists(stale.pid)) await rm(postmasterPidFile(cluster), { force: true });
}

/** Only the server is signalled, which stops its children; orphaned children are signalled themselves. */
async function signalServer(
  cluster: string,
  verified: number[],
  signal: 'INT' | 'QUIT',
  { pgCtl }: Binaries,
): Promise<void> {
  const server = (await readPostmasterPid(cluster))?.pid;
  const targets = server !== undefined && verified.includes(server) ? [server] : verified;
  for (const pid of targets) {
    if (process.platform === 'win32') {
      await runCommand(pgCtl, ['kill', signal, String(pid)]);
      continue;
    }
    try {
      process.kill(pid, `SIG${signal}`);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

async function haveEnded(cluster: string, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  while ((await clusterProcesses(cluster)).length > 0) {
    if (performance.now() > deadline) return false;
    await pause(POLL_MS);
  }
  return true;
}
