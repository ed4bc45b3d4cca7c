import { chmod, rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { findBinaries, type Binaries } from '../../demo/embedded-postgres/binaries.js';
import { findClusterHome, type ClusterHome } from '../../demo/embedded-postgres/cluster-home.js';
import { clusterProcesses } from '../../demo/embedded-postgres/cluster-processes.js';
import { startEmbeddedPostgres } from '../../demo/embedded-postgres/embedded-postgres.js';
import { startServer, stopServer, type ServerProcess } from '../../demo/embedded-postgres/server-process.js';
import { migrate } from '#platform/database/migrations/migrate.js';
import { makeDatabaseFolder } from './database-folder.js';
import { freePort } from './free-port.js';
import { signalled } from './signalled.js';
import type { TestDatabase } from './test-database.js';

/** Fast shutdown, immediate shutdown, and an end without any warning. */
export type StopSignal = 'SIGINT' | 'SIGQUIT' | 'SIGKILL';

// Commits survive any crash of the process; only a crash of the machine could lose them.
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  fsync: 'off',
  log_min_messages: 'log',
  timezone: 'UTC',
};
const say = () => undefined;

/** A test's own PostgreSQL on a fixed port: it can be stopped, killed, frozen and started again. */
export class OwnPostgres implements TestDatabase {
  private server: ServerProcess | undefined;
  private admin: Client | undefined;

  private constructor(
    readonly url: string,
    private readonly dataDir: string,
    private readonly home: ClusterHome,
    private readonly binaries: Binaries,
    private readonly settings: Record<string, string>,
  ) {}

  /** Creates it, migrated, in a folder of its own; `settings` as for `postgres -c`. */
  static async start(settings: Record<string, string> = {}): Promise<OwnPostgres> {
    const dataDir = await makeDatabaseFolder('charging-own-postgres');
    // When run as root, PostgreSQL switches to another user, who needs access to the folder.
    await chmod(dataDir, 0o755);
    const made = await startEmbeddedPostgres({ dataDir, say, settings: { fsync: 'off' } });
    await migrate(made.url, async () => undefined);
    await made.stop();
    const home = await findClusterHome(dataDir, say);
    const url = new URL(made.url);
    url.port = String(await freePort());
    const all = { ...SETTINGS, ...settings, port: url.port };
    const postgres = new OwnPostgres(
      url.href,
      dataDir,
      home,
      await findBinaries(home.runAs, dataDir, say),
      all,
    );
    await postgres.start();
    return postgres;
  }

  /** Starts it again; resolves once it accepts connections. */
  async start(): Promise<void> {
    this.server = await startServer(this.dataDir, this.home, this.binaries, this.settings, say);
  }

  /** Stops it with the given signal; resolves once none of its processes is left. */
  async end(signal: StopSignal): Promise<void> {
    this.admin = undefined;
    this.server?.child.kill(signal);
    while ((await clusterProcesses(this.home.cluster)).length > 0) await pause(10);
    this.server = undefined;
  }

  /** Freezes all its processes, as when a machine is cut off: connections stay open, nothing is answered. */
  async freeze(): Promise<() => void> {
    const frozen = new Set<number>();
    for (let more = true; more;) {
      more = false;
      // One that began meanwhile too.
      for (const pid of await clusterProcesses(this.home.cluster)) {
        if (frozen.has(pid) || !signalled(pid, 'SIGSTOP')) continue;
        frozen.add(pid);
        more = true;
      }
    }
    return () => frozen.forEach((pid) => signalled(pid, 'SIGCONT'));
  }

  /** Opens another connection. */
  async connect(): Promise<Client> {
    const client = new Client({ connectionString: this.url });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }

  async query<T = Record<string, unknown>>(sql: string, params?: unknown[]): Promise<T[]> {
    this.admin ??= await this.connect();
    return (await this.admin.query(sql, params)).rows as T[];
  }

  async drop(): Promise<void> {
    await this.admin?.end().catch(() => undefined);
    if (this.server) await stopServer(this.server);
    await rm(this.dataDir, { recursive: true, force: true });
  }
}
