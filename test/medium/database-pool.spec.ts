import { createServer, connect, type Server, type Socket } from 'node:net';
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { dataSourceOptions } from '#platform/database/connections/data-source.js';
import { RetryingDataSource } from '#platform/database/connections/retrying-data-source.js';
import { isDatabaseAway } from '#platform/database/queries/database-errors.js';
import type { AccessChanges } from '#platform/database/changes/access-changes.service.js';
import { Statements } from '#platform/database/queries/statements.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { untilWaitingForLocks } from '../support/locks.js';
import { freePort } from '../support/test-service.js';
import { createTestDatabase, nameOf, type TestDatabase } from '../support/test-database.js';

/** ReadyForQuery, and the message of a server that is told to shut down. */
const READY = Buffer.from('Z\0\0\0\x05I', 'latin1');
const FATAL = message(
  'E',
  'SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0',
);

function message(kind: string, text: string): Buffer {
  const body = Buffer.from(text, 'latin1');
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(kind), length, body]);
}

const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

/** Nothing is cached here. */
const NO_CHANGES = { catchUp: () => Promise.resolve() } as unknown as AccessChanges;

describe('the pool of connections', () => {
  let database: TestDatabase;
  let relay: Server;
  let dataSource: DataSource;
  let isEnding = false;
  const sockets = new Set<Socket>();

  beforeAll(async () => {
    database = await createTestDatabase();
    const { hostname, port } = new URL(database.url);
    relay = createServer((client) => {
      const server = connect(Number(port), hostname);
      for (const socket of [client, server]) {
        sockets.add(socket);
        socket.on('error', () => undefined);
      }
      client.pipe(server);
      server.on('data', (chunk: Buffer) => {
        const ends = isEnding && chunk.subarray(-READY.length).equals(READY);
        if (ends) client.end(Buffer.concat([chunk, FATAL]));
        else client.write(chunk);
      });
      server.on('close', () => client.destroy());
      client.on('close', () => server.destroy());
    });
    const url = new URL(database.url);
    url.port = String(await freePort());
    await new Promise<void>((resolve) => relay.listen(Number(url.port), '127.0.0.1', resolve));
    dataSource = await new RetryingDataSource(dataSourceOptions(url.href, 3)).initialize();
  });
  afterAll(async () => {
    await dataSource.destroy();
    for (const socket of sockets) socket.destroy();
    relay.close();
    await database.drop();
  });

  it('survives connections that the server ends with the same packet that established them', async () => {
    // The connection that has been idle since the start is in use in the meantime.
    const holder = dataSource.createQueryRunner();
    await holder.connect();
    isEnding = true;
    try {
      for (let n = 0; n < 5; n++) {
        const error = await failureOf(dataSource.query('SELECT 1'));
        expect([n, isDatabaseAway(error), error]).toEqual([n, true, expect.any(Error)]);
      }
    } finally {
      isEnding = false;
      await holder.release();
    }
    expect(await dataSource.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('treats a connection cut between two statements of a transaction as an unavailable database', async () => {
    const error = await failureOf(
      new Transactions(dataSource, NO_CHANGES).run(async () => {
        const [{ pid }] = (await dataSource.query('SELECT pg_backend_pid() AS pid')) as [{ pid: number }];
        const ended = new Promise((resolve) =>
          (dataSource.driver as unknown as { master: NodeJS.EventEmitter }).master.once('remove', resolve),
        );
        await database.query('SELECT pg_terminate_backend($1)', [pid]);
        await ended;
        await dataSource.query('SELECT 1');
      }),
    );
    expect([isDatabaseAway(error), error]).toEqual([true, expect.any(Error)]);
    expect(await dataSource.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  describe('runs again what lost to another transaction:', () => {
    const ADD = `UPDATE things SET n = n + 1
                  WHERE id IN (SELECT id FROM things ORDER BY id DESC FOR UPDATE) RETURNING id, n`;
    const DONE = [
      { id: 1, n: 11 },
      { id: 2, n: 11 },
    ];
    const sorted = (rows: { id: number }[]) => rows.sort((a, b) => a.id - b.id);

    beforeEach(async () => {
      await database.query('CREATE TABLE things (id integer PRIMARY KEY, n integer NOT NULL)');
      await database.query('INSERT INTO things VALUES (1, 0), (2, 0)');
    });
    afterEach(() => database.query('DROP TABLE things'));

    /** The other one locks in the opposite order, and never gives up. */
    async function deadlocked<T>(work: () => Promise<T>): Promise<T> {
      const other = new Client({ connectionString: database.url });
      await other.connect();
      try {
        await other.query("SET deadlock_timeout = '1h'");
        await other.query('BEGIN; UPDATE things SET n = n + 10 WHERE id = 1');
        const working = work();
        await untilWaitingForLocks(database, 1);
        await other.query('UPDATE things SET n = n + 10 WHERE id = 2; COMMIT');
        return await working;
      } finally {
        await other.end();
      }
    }

    const rowsOf = (result: unknown) => (Array.isArray((result as unknown[])[0]) ? (result as unknown[])[0] : result) as { id: number }[]; // prettier-ignore

    it.each<[string, () => Promise<unknown>]>([
      ['a single statement', () => dataSource.query(ADD)],
      ['a single statement of a repository', () => dataSource.manager.query(ADD)],
      ['a prepared statement', () => new Statements(dataSource).run('add', ADD, [])],
      ['a transaction', () => new Transactions(dataSource, NO_CHANGES).run(() => dataSource.query(ADD))],
    ])('%s that lost a deadlock', async (_, work) => {
      expect(sorted(rowsOf(await deadlocked(work)))).toEqual(DONE);
    });

    it('a transaction that could not be serialized, from its beginning', async () => {
      const session = { default_transaction_isolation: 'serializable' };
      const strict = await new RetryingDataSource(
        dataSourceOptions(database.url, 1, { session, driver: {} }),
      ).initialize();
      const seen: unknown[] = [];
      try {
        await strict.transaction(async (manager) => {
          seen.push(await manager.query('SELECT n FROM things WHERE id = 1'));
          if (seen.length === 1) await database.query('UPDATE things SET n = 5 WHERE id = 1');
          await manager.query('UPDATE things SET n = n + 1 WHERE id = 1');
        });
      } finally {
        await strict.destroy();
      }
      expect(seen).toEqual([[{ n: 0 }], [{ n: 5 }]]);
      expect(await database.query('SELECT n FROM things WHERE id = 1')).toEqual([{ n: 6 }]);
    });

    it('but no statement of a transaction by itself, and nothing for ever', async () => {
      let [statements, transactions] = [0, 0];
      const lost = dataSource.transaction(async (manager) => {
        transactions++;
        const raise = `DO $$ BEGIN RAISE EXCEPTION 'lost' USING ERRCODE = 'serialization_failure'; END $$`;
        await manager.query(raise).finally(() => statements++);
      });
      await expect(lost).rejects.toThrow('lost');
      expect([statements, transactions]).toEqual([4, 4]);
    });
  });

  it('has days of 24 hours, also where the time zone of the database changes its clocks', async () => {
    const name = nameOf(database);
    await database.query(`ALTER DATABASE ${name} SET timezone = 'Europe/Berlin'`);
    const there = await new DataSource(dataSourceOptions(database.url, 1)).initialize();
    try {
      // Early on that day, the clocks there went forward.
      const rows: unknown = await there.query(
        `SELECT extract(epoch FROM t - (t - make_interval(days => 1)))::int / 3600 AS hours FROM (SELECT timestamptz '2026-03-29T12:00:00Z' AS t) day`,
      );
      expect(rows).toEqual([{ hours: 24 }]);
    } finally {
      await there.destroy();
    }
  });
});
