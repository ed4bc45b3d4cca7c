import { realpath } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { makeFolder } from '#platform/config/encryption-key-file.js';
import { findBinaries, type Binaries } from './binaries.js';
import { findClusterHome, noteClusterHome, type ClusterHome } from './cluster-home.js';
import { lockFolder, type FolderLock } from './folder-lock.js';
import { freePort } from './free-port.js';
import { initCluster, removeInitLeftovers, SUPERUSER } from './init-cluster.js';
import { stopLeftoverServer } from './leftover-server.js';
import { exists } from './own-folder.js';
import { keptPassword } from './password-file.js';
import { ServerStartError, startServer, stopServer, type ServerProcess } from './server-process.js';
import { Supervisor } from './supervisor.js';

/** A PostgreSQL that belongs to this process; if it stops unexpectedly, it is restarted under the same URL. */
export interface EmbeddedPostgres {
  /** postgres://user:password@127.0.0.1:port/database */
  url: string;
  /** Fast shutdown; resolves when the server has ended. Calling it again is harmless. */
  stop(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  /** Absolute path; created if missing. */
  dataDir: string;
  /** Progress for a person, called when a step is slow. */
  say: (line: string) => void;
  /** Further PostgreSQL settings, as given with -c. */
  settings?: Record<string, string>;
  /** The database to create and to use in the URL; default `charging_data`. */
  database?: string;
  /** A port to try; default: one that is free. */
  findPort?: () => Promise<number>;
}

const START_TRIES = 5;
// Worth another try: the port was taken, or a leftover server had not yet written its postmaster.pid.
const TRANSIENT =
  /could not bind|Address already in use|lock file "postmaster\.pid"|pre-existing shared memory/i;

const SMALL_INSTANCE: Record<string, string> = {
  max_connections: '100',
  shared_buffers: '64MB',
  max_wal_size: '256MB',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
  // Failed statements are reported to the service; in the log they would pile up, with personal data in them.
  log_min_messages: 'log',
};

/**
 * Starts the database of a data folder, and creates it at the first start. Throws an Error with PostgreSQL's last log lines if
 * that fails, or if another live process uses the folder; no message contains the password.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  if (!path.isAbsolute(options.dataDir))
    throw new Error(`The data folder ${options.dataDir} must be an absolute path.`);
  const secrets: string[] = [];
  const locks: FolderLock[] = [];
  try {
    return await start(options, locks, secrets);
  } catch (error) {
    await releaseAll(locks).catch(() => undefined);
    throw readable(error, options.dataDir, secrets);
  }
}

async function start(
  {
    dataDir: asked,
    say,
    settings = {},
    database = 'charging_data',
    findPort = freePort,
  }: EmbeddedPostgresOptions,
  locks: FolderLock[],
  secrets: string[],
): Promise<EmbeddedPostgres> {
  await makeFolder(asked);
  const dataDir = await realpath(asked);
  locks.push(await lockFolder(dataDir));
  const home = await findClusterHome(dataDir, say);
  // A copied data folder points to the same cluster as the original.
  if (home.home !== dataDir) locks.push(await lockFolder(home.home));
  const binaries = await findBinaries(home.runAs, dataDir, say);
  await removeInitLeftovers(home.home);
  const made = await exists(home.cluster);
  const password = await keptPassword(dataDir, made);
  secrets.push(password);
  if (made) {
    await stopLeftoverServer(home, binaries, say);
  } else {
    say(`Creating the database in ${home.cluster} (first start only)`);
    await initCluster(home, binaries, password, settings.fsync !== 'off');
  }
  await noteClusterHome(dataDir, home);

  const { server, port } = await startOnFreePort(findPort, dataDir, home, binaries, settings, say);
  try {
    const address = `postgres://${SUPERUSER}:${encodeURIComponent(password)}@127.0.0.1:${port}`;
    await ensureDatabase(`${address}/postgres`, database);
    const startAgain = async () => {
      await stopLeftoverServer(home, binaries, say);
      return startServer(dataDir, home, binaries, withDefaults(settings, port), say);
    };
    const supervisor = new Supervisor(server, startAgain, say);
    let stopping: Promise<void> | undefined;
    return {
      url: `${address}/${encodeURIComponent(database)}`,
      stop: () => (stopping ??= supervisor.stop().then(() => releaseAll(locks))),
    };
  } catch (error) {
    await stopServer(server).catch(() => undefined);
    throw error;
  }
}

async function startOnFreePort(
  findPort: () => Promise<number>,
  dataDir: string,
  home: ClusterHome,
  binaries: Binaries,
  settings: Record<string, string>,
  say: (line: string) => void,
): Promise<{ server: ServerProcess; port: number }> {
  for (let attempt = 1; ; attempt++) {
    const port = await findPort();
    try {
      return { server: await startServer(dataDir, home, binaries, withDefaults(settings, port), say), port };
    } catch (error) {
      const again = error instanceof ServerStartError && TRANSIENT.test(error.log) && attempt < START_TRIES;
      if (!again) throw error;
      await stopLeftoverServer(home, binaries, say);
    }
  }
}

const withDefaults = (settings: Record<string, string>, port: number): Record<string, string> => ({
  ...SMALL_INSTANCE,
  ...settings,
  listen_addresses: '127.0.0.1',
  port: String(port),
  unix_socket_directories: '',
});

async function ensureDatabase(url: string, database: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 30_000 });
  // A connection that breaks between two queries is reported by the next query.
  client.on('error', () => undefined);
  await client.connect();
  try {
    const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [database]);
    if (found.rowCount === 0) await client.query(`CREATE DATABASE ${client.escapeIdentifier(database)}`);
  } finally {
    await client.end();
  }
}

async function releaseAll(locks: FolderLock[]): Promise<void> {
  await Promise.all(locks.map((lock) => lock.release()));
}

/** The error without the password, and with file-system codes in words. */
function readable(error: unknown, dataDir: string, secrets: string[]): Error {
  const { message, code, path: file } = error as NodeJS.ErrnoException;
  let text = String(message ?? error);
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    text = `The data folder ${dataDir} cannot be used by this user (no permission for ${file ?? 'it'}): ${text}`;
  } else if (code === 'ENOSPC') {
    text = `The disk of the data folder ${dataDir} is full: ${text}`;
  } else if (code === '28P01') {
    text = `The database in ${dataDir} does not accept the password stored in postgres-password: ${text}`;
  }
  for (const secret of secrets) text = text.replaceAll(secret, '***');
  return new Error(text);
}
