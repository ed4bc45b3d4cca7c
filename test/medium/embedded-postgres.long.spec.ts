import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { clusterProcesses } from '../../demo/embedded-postgres/cluster-processes.js';
import * as embedded from '../../demo/embedded-postgres/embedded-postgres.js';
import { freePort } from '../../demo/embedded-postgres/free-port.js';
import { processIdentity } from '../../demo/embedded-postgres/process-identity.js';
import { until } from '../support/until.js';

const BUILT = path.join(process.cwd(), 'dist', 'demo', 'embedded-postgres', 'embedded-postgres.js');
const FAST = { fsync: 'off', synchronous_commit: 'off' };
const STAY = stayUntilTold('process.exit();');

let root: string;
let folders = 0;
const running = new Set<embedded.EmbeddedPostgres>();
const children = new Set<ChildProcess>();
const said: string[] = [];
const newFolder = () => path.join(root, `data-${++folders}`);

async function start(dataDir: string, options: object = {}): Promise<embedded.EmbeddedPostgres> {
  const say = (line: string) => void said.push(line);
  const started = await embedded.startEmbeddedPostgres({ dataDir, say, settings: FAST, ...options });
  running.add(started);
  return started;
}

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

const failure = (attempt: Promise<unknown>): Promise<string> =>
  attempt.then(
    () => 'no failure',
    (error: Error) => error.message,
  );

/** A zombie is not alive: the process that adopted an orphan may take its time to reap it. */
const isAlive = async (pid: number) => (await processIdentity(pid)) !== undefined;

async function serverPid(dataDir: string): Promise<number> {
  return Number((await fs.readFile(path.join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0]);
}

/** Code that keeps a process running until SIGTERM, and then ends it in the given way. */
function stayUntilTold(end: string): string {
  return `const stay = setInterval(() => {}, 1000); process.once('SIGTERM', () => { clearInterval(stay); ${end} });`;
}

/** Runs the supervisor in a Node.js process of its own, as ES modules and from another working directory. */
function spawnService(dataDir: string, then: string): { child: ChildProcess; printed: () => string } {
  const code = `
    import { startEmbeddedPostgres } from ${JSON.stringify(BUILT)};
    const options = { dataDir: ${JSON.stringify(dataDir)}, say: () => {}, settings: ${JSON.stringify(FAST)} };
    const line = await startEmbeddedPostgres(options).then(({ url }) => url, ({ message }) => message);
    ${then}
    // Not before it handles SIGTERM.
    console.log(line);`;
  const args = ['--input-type=module', '-e', code];
  const child = spawn(process.execPath, args, { cwd: '/', stdio: ['ignore', 'pipe', 'ignore'] });
  children.add(child);
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return { child, printed: () => text };
}

/** Resolves to the URL or the error message that the service printed after its start. */
async function startInChild(dataDir: string, then = STAY): Promise<{ child: ChildProcess; line: string }> {
  const { child, printed } = spawnService(dataDir, then);
  await until('the service has printed a line', () => printed().includes('\n'));
  return { child, line: printed().trim() };
}

async function end(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
}

beforeAll(async () => {
  root = await fs.mkdtemp(path.join(os.tmpdir(), 'embedded-postgres-'));
  // When run as root, the tests run PostgreSQL as another user, who needs access to the folder.
  await fs.chmod(root, 0o755);
});

afterEach(async () => {
  await Promise.all([...children].map((child) => end(child, 'SIGTERM')));
  await Promise.all([...running].map((database) => database.stop()));
});

afterAll(async () => {
  for (let folder = 1; folder <= folders; folder++) {
    const cluster = path.join(root, `data-${folder}`, 'postgres');
    const left = () => clusterProcesses(cluster).catch(() => []);
    await until('no server is left', async () => (await left()).length === 0);
  }
  await fs.rm(root, { recursive: true, force: true });
});

describe('the embedded PostgreSQL', () => {
  it('creates a UTF-8 cluster with a stored password, and finds its data again', async () => {
    const dataDir = newFolder();
    const first = await start(dataDir);
    expect(first.url).toMatch(/^postgres:\/\/postgres:[\w-]{43}@127\.0\.0\.1:\d+\/charging_data$/);
    expect((await fs.stat(path.join(dataDir, 'postgres-password'))).mode & 0o777).toBe(0o600);
    const [row] = await query(
      first.url,
      `SELECT current_setting('server_encoding') AS encoding, current_setting('listen_addresses') AS address,
              current_setting('unix_socket_directories') AS sockets, lower('ÄÉ') AS lower,
              (SELECT bool_and(auth_method = 'scram-sha-256') FROM pg_hba_file_rules) AS scram`,
    );
    expect(row).toEqual({ encoding: 'UTF8', address: '127.0.0.1', sockets: '', lower: 'äé', scram: true });
    expect(await failure(query(first.url.replace(/:[\w-]{43}@/, ':wrong@'), 'SELECT 1'))).toMatch(/password/);
    await query(first.url, `CREATE TABLE kept AS SELECT 'still here' AS text`);
    const pid = await serverPid(dataDir);
    // A process group of its own, so that Ctrl-C in the terminal reaches only the service.
    const stat = await fs.readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
    if (stat) expect(stat.split(' ')[4]).toBe(String(pid));
    await Promise.all([first.stop(), first.stop()]);
    expect(await isAlive(pid)).toBe(false);
    const second = await start(dataDir);
    expect(await query(second.url, 'SELECT text FROM kept')).toEqual([{ text: 'still here' }]);
  });

  it('stops the server left behind by a service killed with SIGKILL, and finds its data', async () => {
    const dataDir = newFolder();
    const { child, line } = await startInChild(dataDir);
    await query(line, `CREATE TABLE kept AS SELECT 1 AS one`);
    const orphan = await serverPid(dataDir);
    await end(child);
    expect(await isAlive(orphan)).toBe(true);
    const { url } = await start(dataDir);
    expect(await isAlive(orphan)).toBe(false);
    expect(await query(url, 'SELECT one FROM kept')).toEqual([{ one: 1 }]);
  });

  it('is restarted under the same URL when it is killed, and stays down when it is stopped', async () => {
    const dataDir = newFolder();
    // Committed rows must still exist.
    const database = await start(dataDir, { settings: { fsync: 'off' } });
    await query(database.url, `CREATE TABLE kept AS SELECT 1 AS one`);
    const first = await serverPid(dataDir);
    process.kill(first, 'SIGKILL');
    const works = (sql: string) => query(database.url, sql).catch(() => undefined);
    await until('it works again', async () => (await works('SELECT one FROM kept')) !== undefined);
    const second = await serverPid(dataDir);
    expect(second).not.toBe(first);
    await until('it says so', () => said.at(-1)!.includes('running again'));
    // A slow machine is told that it has to wait, too.
    expect(said.filter((line) => !line.startsWith('Waiting for')).slice(-2)).toEqual([
      expect.stringContaining('stopped unexpectedly'),
      expect.stringContaining('running again'),
    ]);
    // Also while it is restarting.
    process.kill(second, 'SIGKILL');
    await database.stop();
    // The children of a killed server exit on their own as soon as they notice.
    await until('none of its processes is left', async () => {
      return (await clusterProcesses(path.join(dataDir, 'postgres'))).length === 0;
    });
    await start(dataDir);
  });

  it('shuts the server down when the process exits without stopping it', async () => {
    for (const way of ['', 'throw new Error("on purpose");', 'process.exit(3);']) {
      const dataDir = newFolder();
      const { child } = await startInChild(dataDir, stayUntilTold(way));
      const pid = await serverPid(dataDir);
      await end(child, 'SIGTERM');
      await until('the server has ended', async () => !(await isAlive(pid)));
    }
  });

  it('ignores a postmaster.pid whose pid now belongs to another process, and leaves that process alone', async () => {
    const dataDir = newFolder();
    await (await start(dataDir)).stop();
    const unrelated = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    children.add(unrelated);
    const file = path.join(dataDir, 'postgres', 'postmaster.pid');
    const { uid, gid } = await fs.stat(path.join(dataDir, 'postgres'));
    for (const pid of [unrelated.pid, process.pid, 1, 4_000_000]) {
      const lines = [pid, path.join(dataDir, 'postgres'), 1, 5432, '', '127.0.0.1', '', 'ready', ''];
      await fs.writeFile(file, lines.join('\n'), { mode: 0o600 });
      await fs.chown(file, uid, gid);
      await (await start(dataDir)).stop();
    }
    expect(unrelated.exitCode ?? unrelated.signalCode).toBeNull();
  });

  it('refuses a folder that a running process uses, and takes it over once that process is killed', async () => {
    const dataDir = newFolder();
    const { child, line } = await startInChild(dataDir);
    expect(await failure(start(dataDir))).toContain(`already in use by the running process ${child.pid}`);
    expect(await query(line, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await end(child);
    const mine = await start(dataDir);
    expect(await failure(start(dataDir))).toContain('this process');
    expect((await startInChild(dataDir)).line).toContain(`the running process ${process.pid}`);
    await mine.stop();
    await start(dataDir);
  });

  it('lets exactly one of many services take over the folder of a killed service', async () => {
    const dataDir = newFolder();
    await end((await startInChild(dataDir)).child);
    const started = await Promise.all([1, 2, 3, 4].map(() => startInChild(dataDir)));
    const urls = started.map(({ line }) => line).filter((line) => line.startsWith('postgres://'));
    expect(urls).toHaveLength(1);
    expect(await query(urls[0]!, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('runs two data folders in parallel, each with its own settings', async () => {
    const other = { settings: { work_mem: '3MB' }, database: 'other "one"' };
    const [one, two] = await Promise.all([start(newFolder()), start(newFolder(), other)]);
    expect(new URL(one.url).password).not.toBe(new URL(two.url).password);
    await one.stop();
    const sql = `SELECT current_setting('fsync') AS fsync, current_setting('work_mem') AS memory, current_database() AS name`;
    expect(await query(two.url, sql)).toEqual([{ fsync: 'on', memory: '3MB', name: 'other "one"' }]);
  });

  it('recovers from an initialisation that was killed halfway', async () => {
    const namesIn = (folder: string) => fs.readdir(folder).catch(() => [] as string[]);
    /** Kills a service while initdb is at work; where it was done before this process saw it, once more in another folder. */
    const killedHalfway = async (): Promise<string> => {
      const dataDir = newFolder();
      const { child, printed } = spawnService(dataDir, STAY);
      await until('initdb is at work, or done', async () => {
        const half = (await namesIn(dataDir)).find((name) => name.startsWith('postgres.init-'));
        const isAtWork = half !== undefined && (await namesIn(path.join(dataDir, half))).includes('cluster');
        return isAtWork || printed().includes('\n');
      });
      await end(child);
      if (!(await namesIn(dataDir)).includes('postgres')) return dataDir;
      await (await start(dataDir)).stop();
      return killedHalfway();
    };
    const dataDir = await killedHalfway();
    const names = () => namesIn(dataDir);
    const { url } = await start(dataDir);
    expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect((await names()).filter((name) => name.startsWith('postgres.init-'))).toEqual([]);
  });

  it('passes on PostgreSQL’s own error, but never the password', async () => {
    const dataDir = newFolder();
    await (await start(dataDir)).stop();
    const password = (await fs.readFile(path.join(dataDir, 'postgres-password'), 'utf8')).trim();
    const messages = [await failure(start(dataDir, { settings: { no_such_setting: password } }))];
    expect(messages[0]).toMatch(/unrecognized configuration parameter "no_such_setting"|no_such_setting/);
    messages.push(await failure(start(dataDir, { settings: { work_mem: password } })));
    expect(messages[1]).toContain('invalid value for parameter "work_mem"');
    expect(messages[1]).toContain('***');
    await fs.writeFile(path.join(dataDir, 'postgres-password'), 'another-password-altogether');
    messages.push(await failure(start(dataDir)));
    expect(messages[2]).toContain('does not accept the password');
    for (const message of [...messages, ...said]) {
      expect(message).not.toContain(password);
      expect(message).not.toContain('another-password-altogether');
    }
    await fs.writeFile(path.join(dataDir, 'postgres-password'), password);
    await start(dataDir);
  });

  it('leaves nothing behind when initdb fails, and the next start works', async () => {
    const dataDir = newFolder();
    await fs.mkdir(dataDir);
    // initdb treats a password that begins with NUL as empty and refuses it.
    const password = path.join(dataDir, 'postgres-password');
    await fs.writeFile(password, '\0secret');
    const message = await failure(start(dataDir));
    expect(message).toMatch(/initdb failed[^]*is empty/);
    expect(message).not.toContain('secret');
    expect((await fs.readdir(dataDir)).sort()).toEqual(['postgres-password', 'service-lock']);
    await fs.rm(password);
    await start(dataDir);
  });

  it('says why it cannot use a folder', async () => {
    const dataDir = newFolder();
    await fs.mkdir(path.join(dataDir, 'postgres', 'something'), { recursive: true });
    expect(await failure(start(dataDir))).toContain('cannot be used');
    await fs.writeFile(path.join(root, 'file'), '');
    expect(await failure(start(path.join(root, 'file', 'below')))).toContain('ENOTDIR');
    expect(await failure(start('relative/folder'))).toContain('must be an absolute path');
  });

  it('tries another port when another process took the first one', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const ports = [port, port];
    const { url } = await start(newFolder(), { findPort: async () => ports.pop() ?? freePort() });
    expect(new URL(url).port).not.toBe(String(port));
    other.close();
  });
});
