import { accessSync, constants, readdirSync } from 'node:fs';
import { chmod, chown, mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Client } from 'pg';
import { ensurePostgresUser, isRoot } from '../../demo/embedded-postgres/postgres-user.js';
import { runCommand, whyFailed, type RunAs } from '../../demo/embedded-postgres/run-command.js';
import { startServer, stopServer, type ServerProcess } from '../../demo/embedded-postgres/server-process.js';
import { makeDatabaseFolder } from './database-folder.js';
import { freePort } from './free-port.js';

// Debian and Ubuntu do not put these programs on the PATH.
const DEBIAN = '/usr/lib/postgresql';
const NEEDED = ['initdb', 'postgres', 'pg_ctl', 'pg_basebackup', 'pg_dump', 'pg_restore', 'psql'];
const PASSWORD = 'for-the-test';
const USER = 'charging';

const FOLDER = findFolder();

/** Where its programs are; undefined if {@link lackingPostgres}. */
export const installedPostgresFolder = FOLDER;

/** Why an installed PostgreSQL cannot be tested on this machine; undefined if it can. */
export const lackingPostgres = FOLDER
  ? undefined
  : `no folder of the PATH or of ${DEBIAN}/*/bin has all of ${NEEDED.join(', ')}`;

/** A PostgreSQL as an operator installs it, with the backup and restore programs (the embedded one has none of them). */
export class InstalledPostgres {
  private readonly servers = new Map<string, ServerProcess>();

  private constructor(
    /** Owned by the user that PostgreSQL runs as. */
    readonly folder: string,
    /** The user that its files belong to; undefined: the one of this process. */
    readonly runAs: RunAs | undefined,
    readonly port: number,
  ) {}

  /** The PATH with its programs first. */
  readonly path = [FOLDER, process.env.PATH].join(path.delimiter);

  /** Creates the cluster in a folder of its own and starts it; finished WAL goes to the folder `archive` there, unless `settings` say otherwise. */
  static async start(settings: Record<string, string> = {}): Promise<InstalledPostgres> {
    const runAs = isRoot() ? await ensurePostgresUser(() => undefined) : undefined;
    const folder = await makeDatabaseFolder('charging-installed-postgres');
    const postgres = new InstalledPostgres(folder, runAs, await freePort());
    const [archive, password] = [path.join(folder, 'archive'), path.join(folder, 'password')];
    await mkdir(archive);
    await writeFile(password, PASSWORD);
    if (runAs) for (const each of [folder, archive, password]) await chown(each, runAs.uid, runAs.gid);
    await chmod(folder, 0o755);
    const how = [
      '--auth=scram-sha-256',
      `--pwfile=${password}`,
      '--encoding=UTF8',
      '--locale=C',
      '--no-sync',
    ];
    await postgres.run('initdb', `--pgdata=${path.join(folder, 'data')}`, `--username=${USER}`, ...how);
    await postgres.serve('data', postgres.port, {
      archive_mode: 'on',
      archive_command: `test ! -f "${archive}/%f" && cp "%p" "${archive}/%f"`,
      ...settings,
    });
    return postgres;
  }

  url(database: string, port = this.port): string {
    return `postgres://${USER}:${PASSWORD}@127.0.0.1:${port}/${database}`;
  }

  /** Starts a server on the data directory of that name; resolves once it accepts connections. */
  async serve(name: string, port: number, settings: Record<string, string>): Promise<void> {
    const home = { home: this.folder, cluster: path.join(this.folder, name), runAs: this.runAs };
    const [initdb, postgres, pgCtl] = ['initdb', 'postgres', 'pg_ctl'].map(program) as [
      string,
      string,
      string,
    ];
    const all = {
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      fsync: 'off',
      port: String(port),
      ...settings,
    };
    const server = await startServer(this.folder, home, { initdb, postgres, pgCtl }, all, () => undefined);
    this.servers.set(name, server);
  }

  /** Stops the server of that data directory: cleanly, or with SIGQUIT as in a crash. */
  async stop(name: string, signal?: 'SIGQUIT'): Promise<void> {
    const server = this.servers.get(name)!;
    this.servers.delete(name);
    if (signal) server.child.kill(signal);
    await stopServer(server);
  }

  /**
   * Starts a server on a base backup, which replays the archive up to a point in time and accepts connections once it is there.
   */
  async recover(name: string, port: number, moment: string): Promise<void> {
    await writeFile(path.join(this.folder, name, 'recovery.signal'), '');
    await this.serve(name, port, {
      archive_mode: 'off',
      hot_standby: 'off',
      restore_command: `cp "${path.join(this.folder, 'archive')}/%f" "%p"`,
      recovery_target_time: moment,
      recovery_target_action: 'promote',
    });
  }

  /** Runs one of PostgreSQL's programs as the user that owns the files; if it fails, throws with its last lines. */
  async run(name: string, ...args: string[]): Promise<void> {
    const result = await runCommand(program(name), args, this.runAs);
    if (result.code !== 0) throw new Error(`${name}: ${whyFailed(result)}`);
  }

  /** Runs statements on one connection and returns the rows of the last one. */
  async query<T = Record<string, unknown>>(database: string, ...statements: string[]): Promise<T[]> {
    const client = new Client({ connectionString: this.url(database) });
    await client.connect();
    try {
      let rows: T[] = [];
      for (const statement of statements) rows = (await client.query(statement)).rows as T[];
      return rows;
    } finally {
      await client.end();
    }
  }

  async remove(): Promise<void> {
    await Promise.all([...this.servers.values()].map((server) => stopServer(server)));
    await rm(this.folder, { recursive: true, force: true });
  }
}

const program = (name: string): string => path.join(FOLDER!, name);

/** The newest complete installation. */
function findFolder(): string | undefined {
  const byPath = (process.env.PATH ?? '').split(path.delimiter).filter((folder) => folder !== '');
  return [...byPath, ...debianFolders()].find((folder) =>
    NEEDED.every((name) => {
      try {
        accessSync(path.join(folder, name), constants.X_OK);
        return true;
      } catch {
        return false;
      }
    }),
  );
}

function debianFolders(): string[] {
  try {
    const versions = readdirSync(DEBIAN)
      .map(Number)
      .filter((version) => version >= 15);
    return versions.sort((a, b) => b - a).map((version) => path.join(DEBIAN, String(version), 'bin'));
  } catch {
    return [];
  }
}
