import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import type { Binaries } from './binaries.js';
import type { ClusterHome } from './cluster-home.js';
import { readPostmasterPid } from './postmaster-pid.js';
import { neutralFolder, postgresEnvironment, spawnIds } from './run-command.js';
import { openServerLog, tailOf } from './server-log.js';

const READY_MS = 5 * 60_000;
const SLOW_MS = 1_000;
const POLL_MS = 10;
const FAST_STOP_MS = 60_000;
const IMMEDIATE_STOP_MS = 15_000;

/** The server stopped before it was ready; `log` contains its last lines. */
export class ServerStartError extends Error {
  constructor(
    message: string,
    readonly log: string,
  ) {
    super(log ? `${message}\n${log}` : message);
  }
}

/** A running server of ours. */
export interface ServerProcess {
  child: ChildProcess;
  logFile: string;
  pgCtl: string;
}

/**
 * Spawns the server and resolves once it accepts connections. Throws {@link ServerStartError} if it stops before, or is not ready
 * within five minutes.
 */
export async function startServer(
  dataDir: string,
  { cluster, runAs }: ClusterHome,
  { postgres, pgCtl }: Binaries,
  settings: Record<string, string>,
  say: (line: string) => void,
): Promise<ServerProcess> {
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const log = await openServerLog(dataDir);
  let child: ChildProcess;
  let ended: string | undefined;
  try {
    child = spawn(postgres, ['-D', cluster, ...options], {
      ...spawnIds(runAs),
      cwd: neutralFolder(),
      env: postgresEnvironment(),
      // In its own session: Ctrl-C in the terminal is for the service, which then stops the server.
      detached: true,
      stdio: ['ignore', log.handle.fd, log.handle.fd],
      windowsHide: true,
    });
    child.once('error', (error) => (ended ??= error.message));
    child.once('exit', (code, signal) => (ended ??= signal ? `signal ${signal}` : `code ${code}`));
  } finally {
    await log.handle.close();
  }
  const server: ServerProcess = { child, logFile: log.file, pgCtl };
  stopAtExit(server);
  try {
    await untilReady(server, cluster, settings.port, () => ended, say);
  } catch (error) {
    await stopServer(server).catch(() => undefined);
    throw error;
  }
  // The server alone must not keep the service's event loop alive.
  child.unref();
  return server;
}

async function untilReady(
  { child, logFile }: ServerProcess,
  cluster: string,
  port: string | undefined,
  ended: () => string | undefined,
  say: (line: string) => void,
): Promise<void> {
  const begun = performance.now();
  let saidSlow = false;
  for (;;) {
    const how = ended();
    if (how !== undefined) {
      throw new ServerStartError(`PostgreSQL did not start (${how}).`, await tailOf(logFile));
    }
    const noted = await readPostmasterPid(cluster);
    // Also compare the port: in a restarted container, a stale file may name the same pid as the new server.
    if (noted?.pid === child.pid && noted?.status === 'ready' && String(noted.port) === port) return;
    if (!saidSlow && performance.now() - begun > SLOW_MS) {
      saidSlow = true;
      say('Waiting for PostgreSQL to be ready; after a crash it recovers first');
    }
    if (performance.now() - begun > READY_MS) {
      throw new ServerStartError('PostgreSQL was not ready within five minutes.', await tailOf(logFile));
    }
    await pause(POLL_MS);
  }
}

function isRunning({ child }: ServerProcess): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null;
}

/** Stops the server with a fast shutdown and waits for its end; uses an immediate shutdown after a minute. */
export async function stopServer(server: ServerProcess): Promise<void> {
  const { child } = server;
  if (isRunning(server)) {
    child.ref();
    const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    signal(server, 'INT');
    if (!(await within(exited, FAST_STOP_MS))) {
      signal(server, 'QUIT');
      if (!(await within(exited, IMMEDIATE_STOP_MS))) {
        throw new Error(`PostgreSQL (pid ${child.pid}) does not stop.\n${await tailOf(server.logFile)}`);
      }
    }
  }
  atExit.delete(server);
}

function signal(server: ServerProcess, name: 'INT' | 'QUIT'): void {
  if (!isRunning(server)) return;
  // Node can only kill processes on Windows, which would mean crash recovery at the next start.
  if (process.platform === 'win32') spawnSync(server.pgCtl, ['kill', name, String(server.child.pid)]);
  else server.child.kill(`SIG${name}`);
}

async function within(done: Promise<void>, milliseconds: number): Promise<boolean> {
  const timeout = new AbortController();
  const late = pause(milliseconds, false, { signal: timeout.signal }).catch(() => false);
  const inTime = await Promise.race([done.then(() => true), late]);
  timeout.abort();
  return inTime;
}

const atExit = new Set<ServerProcess>();
let listening = false;

/** If the service exits without stopping its server, this at least asks the server to stop. */
function stopAtExit(server: ServerProcess): void {
  atExit.add(server);
  server.child.once('exit', () => atExit.delete(server));
  if (listening) return;
  listening = true;
  process.on('exit', () => atExit.forEach((running) => signal(running, 'INT')));
}
