import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client } from 'pg';
import { ensurePostgresUser, isRoot } from '../../demo/embedded-postgres/postgres-user.js';
import { freePort } from './test-service.js';
import { until } from './until.js';

const PROGRAM = ['pgbouncer', '/usr/sbin/pgbouncer'].find((name) => spawnSync(name, ['-V']).status === 0);

/** Why PgBouncer cannot be tested on this machine; undefined if it can. */
export const lackingPgBouncer = PROGRAM ? undefined : 'there is no pgbouncer on this machine';

/** A real PgBouncer in front of the database of a URL. */
export class PgBouncer {
  private constructor(
    readonly url: string,
    private readonly child: ChildProcess,
    private readonly folder: string,
  ) {}

  /**
   * With the shipped `deploy/pgbouncer/pgbouncer.ini`, addresses and paths apart; `settings` in place of its own. `roles`: others with the
   * same password, for all databases of the server.
   */
  static async start(
    databaseUrl: string,
    mode: 'transaction' | 'session',
    settings: Record<string, string> = {},
    roles: string[] = [],
  ): Promise<PgBouncer> {
    const { hostname, port, username, password, pathname } = new URL(databaseUrl);
    const own = await freePort();
    const folder = await mkdtemp(path.join(tmpdir(), 'charging-pgbouncer-'));
    const file = path.join(folder, 'pgbouncer.ini');
    const users = path.join(folder, 'users.txt');
    const name = decodeURIComponent(pathname.slice(1));
    const lines = [decodeURIComponent(username), ...roles].map(
      (role) => `"${role}" "${decodeURIComponent(password)}"\n`,
    );
    await writeFile(users, lines.join(''));
    const changed: Record<string, string | number> = {
      listen_port: own,
      auth_file: users,
      pool_mode: mode,
      // Its log goes to standard error, and nobody else reaches it.
      logfile: '',
      pidfile: '',
      unix_socket_dir: '',
      ...settings,
    };
    const shipped = await readFile('deploy/pgbouncer/pgbouncer.ini', 'utf8');
    const config = shipped.replace(/^(\w+) = .*$/gm, (line, key: string) => {
      if (key === 'charging_data') {
        return roles.length > 0
          ? `* = host=${hostname} port=${port}`
          : `${name} = host=${hostname} port=${port} dbname=${name}`;
      }
      return key in changed ? `${key} = ${changed[key]}` : line;
    });
    const further = Object.entries(changed).filter(([key]) => !new RegExp(`^${key} = `, 'm').test(shipped));
    await writeFile(file, config + further.map(([key, value]) => `${key} = ${value}\n`).join(''));
    // It refuses to run as root.
    const runAs = isRoot() ? await ensurePostgresUser(() => undefined) : undefined;
    await chmod(folder, 0o755);
    const child = spawn(PROGRAM!, [file], {
      stdio: 'ignore',
      ...(runAs ? { uid: runAs.uid, gid: runAs.gid } : {}),
    });
    const killWithUs = () => void child.kill('SIGKILL');
    process.once('exit', killWithUs);
    child.once('exit', () => process.off('exit', killWithUs));
    const url = Object.assign(new URL(databaseUrl), { host: `127.0.0.1:${own}` }).href;
    await until('pgbouncer answers', () => answers(url));
    return new PgBouncer(url, child, folder);
  }

  async stop(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      const ended = once(this.child, 'exit');
      this.child.kill('SIGKILL');
      await ended;
    }
    await rm(this.folder, { recursive: true, force: true });
  }
}

async function answers(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}
