import { createServer, connect, type Server, type Socket } from 'node:net';
import { DataSource } from 'typeorm';
import { dataSourceOptions } from '../../src/database/connections/data-source.js';
import { isDatabaseAway } from '../../src/database/queries/database-errors.js';
import type { AccessChanges } from '../../src/database/changes/access-changes.service.js';
import { Transactions } from '../../src/database/queries/transactions.js';
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
    dataSource = await new DataSource(dataSourceOptions(url.href, 3)).initialize();
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
      new Transactions(dataSource, NO_CHANGES).run(async (manager) => {
        const [{ pid }] = (await manager.query('SELECT pg_backend_pid() AS pid')) as [{ pid: number }];
        const ended = new Promise((resolve) =>
          (dataSource.driver as unknown as { master: NodeJS.EventEmitter }).master.once('remove', resolve),
        );
        await database.query('SELECT pg_terminate_backend($1)', [pid]);
        await ended;
        await manager.query('SELECT 1');
      }),
    );
    expect([isDatabaseAway(error), error]).toEqual([true, expect.any(Error)]);
    expect(await dataSource.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
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
