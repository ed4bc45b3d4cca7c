import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
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

  static async start(databaseUrl: string, mode: 'transaction' | 'session'): Promise<PgBouncer> {
    const { hostname, port, username, password, pathname } = new URL(databaseUrl);
    const own = await freePort();
    const folder = await mkdtemp(path.join(tmpdir(), 'charging-pgbouncer-'));
    const file = path.join(folder, 'pgbouncer.ini');
    const users = path.join(folder, 'users.txt');
    const name = decodeURIComponent(pathname.slice(1));
    await writeFile(users, `"${decodeURIComponent(username)}" "${decodeURIComponent(password)}"\n`);
    await writeFile(
      file,
      [
        '[databases]',
        `${name} = host=${hostname} port=${port} dbname=${name}`,
        '[pgbouncer]',
        `listen_addr = 127.0.0.1`,
        `listen_port = ${own}`,
        'unix_socket_dir =',
        'auth_type = scram-sha-256',
        `auth_file = ${users}`,
        `pool_mode = ${mode}`,
        'default_pool_size = 30',
      ].join('\n'),
    );
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
