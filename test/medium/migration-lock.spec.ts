import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { Client } from 'pg';
import { startFailure } from '#start/start-error.js';
import { withoutLock } from '#platform/database/migrations/migrate.js';
import { underMigrationLock } from '#platform/database/migrations/migration-lock.js';
import { HeldTimers } from '../support/held-timers.js';
import { describeUnless } from '../support/left-out.js';
import { lackingPgBouncer, PgBouncer } from '../support/pgbouncer.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

// As in src/platform/database/migrations/migration-lock.ts.
const LOCK = '7163106617430109543';
const TERMINATE = 'X'.charCodeAt(0);

describe('the lock of the migrations', () => {
  let database: TestDatabase;
  beforeEach(async () => (database = await createTestDatabase()));
  afterEach(() => database.drop());

  const holders = () =>
    database.query<{ pid: number }>(
      `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    );

  describe('behind a pooler that keeps its connections to the server', () => {
    let relay: Server;
    let toServer: Socket[];
    let url: string;
    /** Everything that was sent to the server. */
    let sent: string;
    beforeEach(async () => {
      const { hostname, port } = new URL(database.url);
      toServer = [];
      sent = '';
      relay = createServer((client) => {
        const server = connect(Number(port), hostname);
        toServer.push(server);
        server.on('error', () => undefined);
        client.on('error', () => undefined);
        client.on('data', (chunk) => {
          sent += chunk.toString('latin1');
          if (chunk[0] === TERMINATE) client.end();
          else server.write(chunk);
        });
        server.on('data', (chunk) => client.write(chunk));
      });
      await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
      url = Object.assign(new URL(database.url), {
        host: `127.0.0.1:${(relay.address() as AddressInfo).port}`,
      }).href;
    });
    afterEach(() => {
      for (const socket of toServer) socket.destroy();
      relay.close();
    });

    it('is given back after the work, and after work that fails', async () => {
      await underMigrationLock(url, async () => expect(await holders()).toHaveLength(1));
      expect(await holders()).toEqual([]);
      const failing = underMigrationLock(url, () => Promise.reject(new Error('it failed')));
      await expect(failing).rejects.toThrow('it failed');
      expect(await holders()).toEqual([]);
    });

    it('is held by a connection that is never silent for long, and work goes no further when it is lost', async () => {
      const silence = HeldTimers.hold(30_000, 30_000, 'migration-lock');
      const spoken = () => sent.split('SELECT 1').length - 1;
      let isSaid = false;
      const working = underMigrationLock(url, async () => {
        const before = spoken();
        for (const times of [1, 2]) {
          await until('it waits to speak', () => silence.count === 1);
          silence.letPass();
          await until('it has spoken', () => spoken() === before + times);
        }
        const [{ pid }] = (await holders()) as [{ pid: number }];
        await database.query('SELECT pg_terminate_backend($1)', [pid]);
        await until('it is said', () => isSaid);
      });
      const failure = await working.catch(startFailure);
      isSaid = true;
      silence.release();
      expect(failure).toEqual({
        message: expect.stringMatching(/^DATABASE_URL: the lock of the migrations was lost: /) as string,
      });
    });

    it('is taken on a connection whose client the server misses within a minute', async () => {
      await underMigrationLock(url, async () => undefined);
      const seconds = ['idle', 'interval', 'count'].map((name) =>
        Number(new RegExp(`tcp_keepalives_${name}\\W+(\\d+)`).exec(sent)?.[1]),
      ) as [number, number, number];
      expect(seconds[0] + seconds[1] * seconds[2]).toBeLessThanOrEqual(60);
    });
  });

  describeUnless(lackingPgBouncer, 'behind a pooler in transaction mode', () => {
    it.each([
      ['is never taken', underMigrationLock],
      ['is not done without either', (url: string, work: () => Promise<void>) => withoutLock(url, [], work)],
    ])('%s: the start says that DATABASE_URL needs session mode', async (_what, run) => {
      const pooler = await PgBouncer.start(database.url, 'transaction');
      const proof = HeldTimers.hold(10_000, 10_000, 'session-mode');
      let worked = false;
      try {
        const failure = run(pooler.url, async () => void (worked = true)).then(
          () => undefined,
          (error: unknown) => startFailure(error),
        );
        await until('a sign was sent that does not arrive', async () => {
          const sent = await database.query(
            `SELECT 1 FROM pg_stat_activity WHERE query LIKE 'SELECT pg_notify%' AND state = 'idle' AND datname = current_database()`,
          );
          return proof.count === 1 && sent.length > 0;
        });
        proof.letPass();
        expect(await failure).toEqual({
          message:
            'DATABASE_URL: notifications do not arrive; DATABASE_URL must point to PostgreSQL itself or to a pooler in session mode',
        });
        expect([worked, await holders()]).toEqual([false, []]);
      } finally {
        proof.release();
        await pooler.stop();
      }
    });
  });

  describe('held by another session', () => {
    let other: Client;
    let pid: number;
    let clocks: HeldTimers;
    beforeEach(async () => {
      other = new Client({ connectionString: database.url, application_name: 'left behind' });
      await other.connect();
      await other.query('SELECT pg_advisory_lock($1)', [LOCK]);
      pid = (await other.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]!.pid;
      clocks = HeldTimers.hold(5_000, 60_000, 'migration-lock');
    });
    afterEach(async () => {
      clocks.release();
      await other.end();
    });
    const DESCRIBED = (id: number) =>
      `PostgreSQL process ${id} \\(application_name "left behind", connected since \\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z\\)$`;

    it('is waited for; after five seconds the log says once who holds it', async () => {
      const said: string[] = [];
      let worked = false;
      const waiting = underMigrationLock(database.url, async () => void (worked = true), {
        waitSeconds: 3600,
        say: (line) => said.push(line),
      });
      await until('it waits', () => clocks.count === 1);
      expect(said).toEqual([]);
      clocks.letPass();
      await until('it is said', () => said.length > 0);
      await other.query('SELECT pg_advisory_unlock($1)', [LOCK]);
      await waiting;
      expect(worked).toBe(true);
      expect(said).toHaveLength(1);
      expect(said[0]).toMatch(
        new RegExp(`^Waiting up to 3600 s for the lock of the migrations, held by ${DESCRIBED(pid)}`),
      );
    });

    it('ends the start with a line that names it when MIGRATION_WAIT_SECONDS are over', async () => {
      const failure = underMigrationLock(database.url, () => Promise.reject(new Error('it worked')), {
        waitSeconds: 60,
      }).catch((error: unknown) => startFailure(error));
      await until('it waits', () => clocks.count === 2);
      clocks.letPass();
      const { message, err } = (await failure) as { message: string; err?: unknown };
      expect(err).toBeUndefined();
      expect(message).toMatch(
        new RegExp(
          `^MIGRATION_WAIT_SECONDS: waited for 60 s for the lock of the migrations, held by ${DESCRIBED(pid)}`,
        ),
      );
    });
  });
});
