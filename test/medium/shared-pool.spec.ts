import type pg from 'pg';
import { keptFree, sharedPool, type SharedPool } from '#platform/database/connections/shared-pool.js';
import { HeldTimers } from '../support/held-timers.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { freePort } from '../support/free-port.js';
import { until } from '../support/until.js';

const SIZE = 8;
const SHARED = SIZE - keptFree(SIZE);
const WAIT_MS = 3_000;

describe('The pool of connections that pages share', () => {
  let database: TestDatabase;
  let pool: SharedPool;
  let isProgram = false;
  const held: pg.PoolClient[] = [];

  beforeAll(async () => void (database = await createTestDatabase()));
  afterAll(() => database.drop());
  beforeEach(() => {
    isProgram = false;
    pool = new (sharedPool((isStatement) => isProgram || isStatement))({
      connectionString: database.url,
      max: SIZE,
      connectionTimeoutMillis: WAIT_MS,
    });
  });
  afterEach(async () => {
    for (const client of held.splice(0)) client.release();
    await pool.end();
  });

  const take = async (): Promise<pg.PoolClient> => {
    const client = await pool.connect();
    held.push(client);
    return client;
  };
  const giveBack = () => held.pop()!.release();
  const takeAllShared = () => Promise.all(Array.from({ length: SHARED }, take));

  it.each([
    [1, 0],
    [3, 0],
    [4, 1],
    [10, 2],
    [20, 5],
  ])('keeps, of %d, %d free', (size, kept) => expect(keptFree(size)).toBe(kept));

  it('lets others wait before it is empty, and serves tokens and bearer requests meanwhile', async () => {
    await takeAllShared();
    const served: string[] = [];
    const page = take().then(() => served.push('page'));
    const statement = await pool.queryFirst<{ n: number }>({ name: 'one', text: 'SELECT 1 AS n' });
    expect(statement.rows).toEqual([{ n: 1 }]);
    isProgram = true;
    await pool.query('SELECT 1');
    await Promise.all(Array.from({ length: SIZE - SHARED }, take));
    expect([served, pool.totalCount, pool.waiting]).toEqual([[], SIZE, 1]);
    // What programs give back is not for pages.
    giveBack();
    await pool.query('SELECT 1');
    expect(served).toEqual([]);
    held.shift()!.release();
    await page;
    expect(pool.totalCount).toBe(SIZE);
  });

  it('serves those that wait in their order, and never more at a time than may', async () => {
    await takeAllShared();
    const order: number[] = [];
    const waiting = [1, 2, 3].map((n) => take().then(() => order.push(n)));
    for (let n = 1; n <= 3; n++) {
      held.shift()!.release();
      await until('one is served', () => order.length === n);
      expect(pool.waiting).toBe(3 - n);
    }
    await Promise.all(waiting);
    expect(order).toEqual([1, 2, 3]);
  });

  it('refuses those that wait too long, as the pool of the driver does, and then serves others', async () => {
    const limit = HeldTimers.hold(WAIT_MS, WAIT_MS, 'shared-pool');
    try {
      await takeAllShared();
      const refused = expect(pool.connect()).rejects.toThrow('timeout exceeded when trying to connect');
      limit.letPass();
      await refused;
      expect(pool.waiting).toBe(0);
      giveBack();
      await take();
    } finally {
      limit.release();
    }
  });

  it('gives the place of a connection back that could not be made', async () => {
    const away = new (sharedPool(() => false))({
      connectionString: `postgres://nobody@127.0.0.1:${await freePort()}/nothing`,
      max: 1,
    });
    const failures = await Promise.allSettled([1, 2, 3].map(() => away.query('SELECT 1')));
    expect(failures.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(away.waiting).toBe(0);
    await away.end();
  });

  it('refuses those that come after its end', async () => {
    const ended = new (sharedPool(() => false))({ connectionString: database.url, max: 1 });
    await ended.end();
    await expect(ended.connect()).rejects.toThrow('Cannot use a pool after calling end');
  });
});
