import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { parse, stringify } from 'yaml';
import { clusterProcesses } from '../../demo/embedded-postgres/cluster-processes.js';
import { ensurePostgresUser, isRoot } from '../../demo/embedded-postgres/postgres-user.js';
import {
  neutralFolder,
  postgresEnvironment,
  spawnIds,
  type RunAs,
} from '../../demo/embedded-postgres/run-command.js';
import { signalled } from './signalled.js';
import { freePort } from './free-port.js';
import { IN_CONTAINER, lackingHaproxy, runHaproxy, type RunningHaproxy } from './haproxy.js';
import { installedPostgresFolder, lackingPostgres } from './installed-postgres.js';
import { until } from './until.js';

const lacks = (program: string, option: string): string | undefined =>
  spawnSync(program, [option]).status === 0 ? undefined : `there is no ${program} on this machine`;

/** Why Patroni cannot be tested on this machine; undefined if it can. */
export const lackingPatroni =
  lackingPostgres ?? lackingHaproxy ?? lacks('patroni', '--version') ?? lacks('etcd', '--version');

const SHIPPED = path.join(process.cwd(), 'deploy', 'patroni');
const NODES = 3;
const PASSWORD = 'for-the-test';
const DATABASE = 'live';
// Shorter than what is shipped (20 s), so that a test does not wait for it. A busy machine may lose a lease: that is one fail-over more.
const SHORT_LEASE = { ttl: 8, loop_wait: 1, retry_timeout: 3 };

interface PatroniOptions {
  dcs: Record<string, unknown>;
  parameters: Record<string, string>;
}

interface Config {
  bootstrap: { dcs: Record<string, unknown>; initdb: unknown[] };
  postgresql: Record<string, unknown> & { authentication: { superuser: { username: string } } };
}

interface Node {
  name: string;
  port: number;
  restPort: number;
  data: string;
  config: string;
  patroni: ChildProcess | undefined;
}

/**
 * Three PostgreSQL servers with the shipped `deploy/patroni/patroni.yml` (addresses, time-outs and paths apart), their etcd, and HAProxy
 * with the shipped `deploy/patroni/haproxy.cfg` in front of them. They run as an ordinary user.
 */
export class PatroniCluster {
  private readonly nodes: Node[] = [];
  private etcd: ChildProcess | undefined;
  private balancer: RunningHaproxy | undefined;
  private balancerPort = 0;
  private user = '';

  private constructor(
    readonly folder: string,
    private readonly runAs: RunAs | undefined,
  ) {}

  /** `dcs`: Patroni's dynamic configuration where it differs from what is shipped; `parameters`: those of PostgreSQL. */
  static async start(given: Partial<PatroniOptions> = {}): Promise<PatroniCluster> {
    // Commits survive the end of processes; only that of the machine could lose them.
    const options = { dcs: SHORT_LEASE, parameters: { fsync: 'off' }, ...given };
    const runAs = isRoot() ? await ensurePostgresUser(() => undefined) : undefined;
    const folder = await mkdtemp(path.join(tmpdir(), 'charging-patroni-'));
    if (runAs) await chown(folder, runAs.uid, runAs.gid);
    await chmod(folder, 0o755);
    const cluster = new PatroniCluster(folder, runAs);
    try {
      await cluster.begin(options);
    } catch (error) {
      await cluster.remove();
      throw error;
    }
    return cluster;
  }

  private async begin(options: PatroniOptions): Promise<void> {
    const [etcdPort, peerPort] = [await freePort(), await freePort()];
    const [client, peer] = [`http://127.0.0.1:${etcdPort}`, `http://127.0.0.1:${peerPort}`];
    this.etcd = await this.run('etcd', 'etcd', [
      '--data-dir',
      path.join(this.folder, 'etcd'),
      '--name',
      'one',
      '--unsafe-no-fsync',
      '--enable-v2',
      '--listen-client-urls',
      client,
      '--advertise-client-urls',
      client,
      '--listen-peer-urls',
      peer,
      '--initial-advertise-peer-urls',
      peer,
      '--initial-cluster',
      `one=${peer}`,
    ]);
    for (let n = 1; n <= NODES; n++) {
      const node = await this.configure(`postgres-${n}`, etcdPort, options);
      this.nodes.push(node);
      await this.startNode(node);
      // The first one creates the cluster, which the others copy.
      if (n === 1) await until('there is a leader', async () => (await this.leader()) !== undefined);
    }
    await this.untilWhole();
    await this.query(`CREATE DATABASE ${DATABASE}`, [], 'postgres');
    this.balancerPort = await freePort();
    this.balancer = await runHaproxy(await this.balancerConfig(), IN_CONTAINER);
  }

  /** The folder of PostgreSQL's programs. */
  readonly programs = installedPostgresFolder;

  /** The servers by name, as in a DATABASE_URL. */
  get url(): string {
    const hosts = this.nodes.map(({ port }) => `127.0.0.1:${port}`).join();
    return `postgres://${this.user}:${PASSWORD}@${hosts}/${DATABASE}?target_session_attrs=read-write`;
  }

  /** The leader by the load balancer. */
  get balancedUrl(): string {
    return `postgres://${this.user}:${PASSWORD}@127.0.0.1:${this.balancerPort}/${DATABASE}`;
  }

  /** The server that leads now, alone. */
  async leaderUrl(database = DATABASE): Promise<string> {
    let name: string | undefined;
    await until('there is a leader', async () => (name = await this.leader()) !== undefined);
    return `postgres://${this.user}:${PASSWORD}@127.0.0.1:${this.node(name!).port}/${database}`;
  }

  /** The name of the server that Patroni calls the leader; undefined if there is none. */
  async leader(): Promise<string | undefined> {
    const answers = await Promise.all(this.nodes.map(({ restPort }) => isPrimary(restPort)));
    return this.nodes[answers.indexOf(true)]?.name;
  }

  /** Waits until another server than this one leads. */
  async untilReplaced(name: string): Promise<void> {
    await until(`another server than ${name} leads`, async () => {
      const leader = await this.leader();
      return leader !== undefined && leader !== name;
    });
  }

  /** The name of the synchronous standby; undefined if there is none. */
  async standby(): Promise<string | undefined> {
    return (await this.members()).find(({ role }) => role === 'sync_standby')?.name;
  }

  /** Waits until another server than this one is the synchronous standby. */
  async untilStandbyReplaced(name: string): Promise<void> {
    await until(`another server than ${name} is the synchronous standby`, async () => {
      const standby = await this.standby();
      return standby !== undefined && standby !== name;
    });
  }

  /**
   * The servers as Patroni sees them, which decides by this who may take over: PostgreSQL calls a standby synchronous a moment before
   * Patroni has noted it, and a leader that is killed in between has no successor.
   */
  private async members(): Promise<{ name: string; role: string }[]> {
    const leader = await this.leader();
    if (leader === undefined) return [];
    return fetch(`http://127.0.0.1:${this.node(leader).restPort}/cluster`)
      .then(
        async (answer) => ((await answer.json()) as { members: { name: string; role: string }[] }).members,
      )
      .catch(() => []);
  }

  /** Waits until one leads, and both others follow, one of them as the synchronous standby unless there is none. */
  async untilWhole(synchronous = true): Promise<void> {
    await until('three servers are there', async () => {
      const roles = (await this.members()).map(({ role }) => role);
      if (!roles.includes('leader') || roles.includes('sync_standby') !== synchronous) return false;
      const streaming = await this.query(
        `SELECT FROM pg_stat_replication WHERE state = 'streaming' AND application_name ~ '^postgres-'`,
        [],
        'postgres',
      ).catch(() => []);
      return streaming.length === NODES - 1;
    });
  }

  /** As when the power of its machine fails; it is back with {@link revive}. */
  async kill(name: string): Promise<void> {
    const node = this.node(name);
    this.killPatroni(name);
    for (;;) {
      const pids = await clusterProcesses(node.data);
      if (pids.length === 0) return;
      for (const pid of pids) signalled(pid, 'SIGKILL');
      await pause(10);
    }
  }

  /** Its Patroni alone: PostgreSQL goes on, and nobody tells it that another server leads. */
  killPatroni(name: string): void {
    const node = this.node(name);
    // With the programs that it runs at the moment, all but PostgreSQL.
    if (node.patroni) signalled(-node.patroni.pid!, 'SIGKILL');
    node.patroni = undefined;
  }

  /** As when its machine hangs: connections stay open and nothing is answered. Its watchdog then resets it: {@link kill}. */
  async freeze(name: string): Promise<void> {
    const { data, patroni } = this.node(name);
    for (const pid of [patroni!.pid!, ...(await clusterProcesses(data))]) signalled(pid, 'SIGSTOP');
  }

  /** After {@link kill} or {@link killPatroni}. */
  revive(name: string): Promise<void> {
    return this.startNode(this.node(name));
  }

  /** Changes Patroni's dynamic configuration. */
  async change(dcs: Record<string, unknown>): Promise<void> {
    const { restPort } = this.node((await this.leader())!);
    const answer = await fetch(`http://127.0.0.1:${restPort}/config`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(dcs),
    });
    if (!answer.ok) throw new Error(`not changed: ${answer.status}`);
  }

  /** Runs a statement on the leader. */
  async query<T = Record<string, unknown>>(
    sql: string,
    parameters: unknown[] = [],
    database = DATABASE,
  ): Promise<T[]> {
    const connection = await this.connect(database);
    try {
      return (await connection.query(sql, parameters)).rows as T[];
    } finally {
      await connection.end().catch(() => undefined);
    }
  }

  /** A connection to the leader, however long a busy machine takes. */
  private async connect(database: string): Promise<Client> {
    let client!: Client;
    await until('the leader accepts a connection', async () => {
      client = new Client({ connectionString: await this.leaderUrl(database) });
      client.on('error', () => undefined);
      return client.connect().then(
        () => true,
        () => false,
      );
    });
    return client;
  }

  async remove(): Promise<void> {
    await this.balancer?.stop();
    for (const { name } of this.nodes) await this.kill(name);
    if (this.etcd) signalled(-this.etcd.pid!, 'SIGKILL');
    await rm(this.folder, { recursive: true, force: true });
  }

  private node(name: string): Node {
    return this.nodes.find((each) => each.name === name)!;
  }

  private async startNode(node: Node): Promise<void> {
    node.patroni = await this.run(node.name, 'patroni', [node.config]);
  }

  private async configure(name: string, etcdPort: number, options: PatroniOptions): Promise<Node> {
    const [port, restPort] = [await freePort(), await freePort()];
    const shipped = parse(await readFile(path.join(SHIPPED, 'patroni.yml'), 'utf8')) as Config;
    this.user = shipped.postgresql.authentication.superuser.username;
    const [data, config] = [path.join(this.folder, name), path.join(this.folder, `${name}.yml`)];
    const at = (number: number) => ({
      listen: `127.0.0.1:${number}`,
      connect_address: `127.0.0.1:${number}`,
    });
    const all = {
      ...shipped,
      name,
      restapi: at(restPort),
      etcd: { hosts: [`127.0.0.1:${etcdPort}`] },
      bootstrap: {
        dcs: { ...shipped.bootstrap.dcs, ...options.dcs },
        initdb: [...shipped.bootstrap.initdb, 'no-sync'],
      },
      postgresql: {
        ...shipped.postgresql,
        ...at(port),
        data_dir: data,
        bin_dir: installedPostgresFolder,
        pgpass: path.join(this.folder, `${name}.pgpass`),
        pg_hba: [
          'host all all 127.0.0.1/32 scram-sha-256',
          'host replication replicator 127.0.0.1/32 scram-sha-256',
        ],
        parameters: { unix_socket_directories: '', ...options.parameters },
      },
      // No machine of the tests has a watchdog.
      watchdog: { mode: 'off' },
    };
    await writeFile(config, stringify(all));
    await mkdir(data, { mode: 0o700 });
    if (this.runAs) for (const each of [config, data]) await chown(each, this.runAs.uid, this.runAs.gid);
    return { name, port, restPort, data, config, patroni: undefined };
  }

  private async balancerConfig(): Promise<string> {
    const shipped = await readFile(path.join(SHIPPED, 'haproxy.cfg'), 'utf8');
    return shipped
      .replace('bind :5432', `bind 127.0.0.1:${this.balancerPort}`)
      .replace(/server (\S+) \S+ check port 8008/g, (_, name: string) => {
        const { port, restPort } = this.node(name);
        return `server ${name} 127.0.0.1:${port} check port ${restPort}`;
      });
  }

  /** Starts a program in a process group of its own, which ends with this process; its output is in `name`.log. */
  private async run(name: string, program: string, args: string[]): Promise<ChildProcess> {
    const log = await open(path.join(this.folder, `${name}.log`), 'a');
    const child = spawn(program, args, {
      ...spawnIds(this.runAs),
      cwd: neutralFolder(),
      env: {
        ...postgresEnvironment(),
        PATRONI_SUPERUSER_PASSWORD: PASSWORD,
        PATRONI_REPLICATION_PASSWORD: PASSWORD,
      },
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
    });
    await log.close();
    const killWithUs = () => signalled(-child.pid!, 'SIGKILL');
    process.once('exit', killWithUs);
    child.once('exit', () => process.off('exit', killWithUs));
    child.unref();
    return child;
  }
}

async function isPrimary(restPort: number): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(2_000);
    return (await fetch(`http://127.0.0.1:${restPort}/primary`, { signal })).status === 200;
  } catch {
    return false;
  }
}
