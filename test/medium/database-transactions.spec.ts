import { DataSource, EntitySchema, type Repository } from 'typeorm';
import { dataSourceOptions } from '#platform/database/connections/data-source.js';
import { RetryingDataSource } from '#platform/database/connections/retrying-data-source.js';
import type { AccessChanges } from '#platform/database/changes/access-changes.service.js';
import { DomainEvents } from '#platform/database/domain/domain-events.service.js';
import type { DomainMethods } from '#platform/database/domain/domain-methods.js';
import { batched } from '#platform/database/queries/batched.js';
import { Statements } from '#platform/database/queries/statements.js';
import { outsideTransaction } from '#platform/database/queries/transaction-around.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { untilWaitingForLocks } from '../support/locks.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

interface Thing {
  id: number;
}
const THING = new EntitySchema<Thing>({
  name: 'Thing',
  tableName: 'things',
  columns: { id: { type: 'integer', primary: true } },
});

describe('a transaction is around the work that it runs:', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let things: Repository<Thing>;
  let transactions: Transactions;
  let statements: Statements;
  const caughtUp = jest.fn(() => Promise.resolve());

  beforeAll(async () => {
    database = await createTestDatabase();
    await database.query('CREATE TABLE things (id integer PRIMARY KEY)');
    const options = { ...dataSourceOptions(database.url, 3), entities: [THING] };
    dataSource = await new RetryingDataSource(options).initialize();
    things = dataSource.getRepository(THING);
    transactions = new Transactions(dataSource, { catchUp: caughtUp } as unknown as AccessChanges);
    statements = new Statements(dataSource);
  });
  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });
  beforeEach(async () => {
    await database.query('TRUNCATE things');
    caughtUp.mockClear();
  });

  const stored = async () =>
    (await database.query<Thing>('SELECT id FROM things ORDER BY id')).map(({ id }) => id);
  const add = (id: number) => things.insert({ id });
  const selectOne = () => statements.run('select one', 'SELECT 1', []);
  /** Rejects after the work, so that all of it is undone. */
  const undone = (work: () => Promise<unknown>) =>
    expect(
      transactions.run(async () => {
        await work();
        throw new Error('undo');
      }),
    ).rejects.toThrow('undo');

  it('statements that are started at once are sent one after another, and none after one that failed', async () => {
    const sent: string[] = [];
    const send = (name: string, sql = 'SELECT 1') => dataSource.query(sql).finally(() => sent.push(name));
    const late: Promise<unknown>[] = [];
    const work = transactions.run(() => {
      late.push(send('one'), send('two', 'SELECT 1 / 0'), send('three', 'INSERT INTO things VALUES (1)'));
      return Promise.all(late);
    });
    await expect(work).rejects.toThrow('division by zero');
    const outcomes = await Promise.allSettled(late);
    expect([sent, outcomes.map(({ status }) => status)]).toEqual([
      ['one', 'two', 'three'],
      ['fulfilled', 'rejected', 'rejected'],
    ]);
    expect(await stored()).toEqual([]);
  });

  it('what listeners of an event do is part of it, and one that throws undoes it all', async () => {
    const tell = (listeners: (() => Promise<unknown>)[]) => {
      const events = new DomainEvents({ of: () => listeners } as unknown as DomainMethods);
      return transactions.run(async () => {
        await add(1);
        await events.say('user.deletion_changed', { kind: 'cancelled', userId: 'user1' });
      });
    };
    const fail = () => Promise.reject(new Error('a listener failed'));
    await expect(tell([() => add(2), fail, () => add(3)])).rejects.toThrow('a listener failed');
    expect(await stored()).toEqual([]);
    await tell([() => add(2), () => add(3)]);
    expect(await stored()).toEqual([1, 2, 3]);
  });

  describe('refuses', () => {
    it('a statement that was started inside and comes after its end, whether it committed or not', async () => {
      for (const failure of [undefined, new Error('undo')]) {
        let end = () => undefined as void;
        const ended = new Promise<void>((resolve) => (end = resolve));
        const late: Promise<unknown>[] = [];
        const work = transactions.run(async () => {
          const after = async (work: () => Promise<unknown>) => {
            await ended;
            return work();
          };
          const ways = [
            () => add(1),
            selectOne,
            () => dataSource.query('SELECT 1'),
            () => transactions.run(() => add(1)),
          ];
          late.push(...ways.map(after));
          if (failure) throw failure;
        });
        const settled = Promise.allSettled([work]);
        // Another one is around at that time.
        await transactions.run(async () => {
          await settled;
          end();
          const outcomes = await Promise.allSettled(late);
          const why = expect.stringContaining('after the end of the transaction') as string;
          const refused = { status: 'rejected', reason: expect.objectContaining({ message: why }) as Error };
          expect(outcomes).toEqual(late.map(() => refused));
        });
      }
      expect(await stored()).toEqual([]);
    });

    it('to commit while a statement is under way that nobody awaits', async () => {
      let forgotten: Promise<unknown> | undefined;
      await database.query('SELECT pg_advisory_lock(7)');
      const work = transactions.run(async () => {
        await add(1);
        forgotten = dataSource.query('SELECT pg_advisory_xact_lock(7)');
        await untilWaitingForLocks(database, 1);
        // The answer comes after the end of the work.
        void database.query('SELECT pg_advisory_unlock(7)');
      });
      await expect(work).rejects.toThrow('under way at the end of its transaction');
      await forgotten;
      expect(await stored()).toEqual([]);
    });

    it('prepared statements, and others on a connection of their own', async () => {
      await undone(async () => {
        await expect(selectOne()).rejects.toThrow('asks for a connection of its own');
        const runner = dataSource.createQueryRunner();
        await expect(runner.query('SELECT 1')).rejects.toThrow('asks for a connection of its own');
      });
    });

    it('statements that are gathered with those of other callers', async () => {
      const find = batched((keys: readonly number[]) => Promise.resolve(keys));
      await undone(async () => {
        expect(() => find(1)).toThrow('cannot be part of a transaction');
        expect(await outsideTransaction(() => find(1))).toBe(1);
      });
    });
  });

  it('everything that asks the data source joins it, and is undone with it', async () => {
    await undone(async () => {
      await add(1);
      await things.createQueryBuilder().insert().values({ id: 2 }).execute();
      await things.manager.query('INSERT INTO things VALUES (3)');
      await dataSource.query('INSERT INTO things VALUES (4)');
      await transactions.run(() => add(5));
      await Promise.all([add(6), add(7)]);
      expect(await things.find({ order: { id: 'ASC' } })).toEqual(
        [1, 2, 3, 4, 5, 6, 7].map((id) => ({ id })),
      );
    });
    expect(await stored()).toEqual([]);
  });

  it('an inner one commits with the outer one, which alone waits for the changes', async () => {
    await transactions.run(async () => {
      await transactions.run(() => add(1));
      expect([await stored(), caughtUp.mock.calls.length]).toEqual([[], 0]);
    });
    expect([await stored(), caughtUp.mock.calls.length]).toEqual([[1], 1]);
  });

  it('one that lost to another begins again as a whole, with its inner ones', async () => {
    let attempts = 0;
    await transactions.run(async () => {
      await add(1);
      await transactions.run(async () => {
        await add(2);
        if (++attempts < 3) throw Object.assign(new Error('lost'), { code: '40001' });
      });
    });
    expect([await stored(), attempts]).toEqual([[1, 2], 3]);
  });

  it('what leaves it has a commit of its own, and may go on after it', async () => {
    let end = () => undefined as void;
    const ended = new Promise<void>((resolve) => (end = resolve));
    let behind: Promise<unknown> | undefined;
    await undone(async () => {
      await add(1);
      await outsideTransaction(async () => {
        expect(await things.count()).toBe(0);
        await add(2);
        await transactions.run(() => add(3));
        await selectOne();
      });
      behind = outsideTransaction(() => ended.then(() => add(4)));
      expect(await things.find()).toHaveLength(3);
    });
    end();
    await behind;
    expect(await stored()).toEqual([2, 3, 4]);
  });

  it('those that run at once have nothing to do with each other, nor with another data source', async () => {
    const other = await new RetryingDataSource(dataSourceOptions(database.url, 1)).initialize();
    try {
      await Promise.all([
        transactions.run(() => add(1)),
        undone(() => add(2)),
        undone(() => other.query('INSERT INTO things VALUES (3)')),
        add(4),
      ]);
    } finally {
      await other.destroy();
    }
    expect(await stored()).toEqual([1, 3, 4]);
  });
});
