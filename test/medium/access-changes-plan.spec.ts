import { escapeLiteral, type Client } from 'pg';
import {
  AccessChangesRepository,
  type ChangesRead,
} from '#platform/database/changes/access-changes.repository.js';
import { newConnection } from '#platform/database/connections/connections.js';
import { LISTENING, type Listener } from '#platform/database/connections/listener.service.js';
import { rowsOf, type Plan } from '../support/list-plans.js';
import { connectionTo, createTestDatabase, type TestDatabase } from '../support/test-database.js';

/** More than a read may look at when nothing is new. */
const MANY = 20_000;

describe('a read of the changes', () => {
  let database: TestDatabase;
  let reader: Client;
  let open: Client;
  let explains = false;
  let plan: Plan;

  const repository = new AccessChangesRepository({
    query: async ({ name, text, values }: { name: string; text: string; values: unknown[] }) => {
      if (!explains) return (await reader.query({ name, text, values })).rows as unknown[];
      const given = values.map((value) => escapeLiteral(String(value))).join();
      const { rows } = await reader.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
        `EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE "${name}" (${given})`,
      );
      plan = rows[0]!['QUERY PLAN'][0].Plan;
      return [];
    },
  } as unknown as Listener);
  const read = async (since: string, limit = 10): Promise<ChangesRead> =>
    (await repository.readSince(since, limit, false))[0]!;
  const readRows = async (since: string, limit = 10) => {
    explains = true;
    await read(since, limit).catch(() => undefined);
    explains = false;
    return rowsOf(plan);
  };

  beforeAll(async () => {
    database = await createTestDatabase();
    reader = newConnection(database.url, {}, LISTENING);
    await reader.connect();
    // Planned while there is nothing, as at the first start.
    await read('3:3:');
    open = await connectionTo({ database });
    await open.query('BEGIN');
    await open.query("INSERT INTO access_changes (ids) VALUES ('{open}')");
    // Each in a transaction of its own.
    await database.query(
      `DO $$ BEGIN FOR n IN 1..${MANY} LOOP INSERT INTO access_changes (ids) VALUES (ARRAY['x' || n]); COMMIT; END LOOP; END $$`,
    );
    await database.query('ANALYZE access_changes');
  });
  afterAll(async () => {
    await Promise.all([reader.end(), open.end()]);
    await database.drop();
  });

  it('looks at what is new only, also while a transaction that began before it all is open', async () => {
    const { snapshot, changes } = await read('3:3:');
    expect(changes.map(([, ids]) => ids[0])).not.toContain('open');
    expect(changes).toHaveLength(10);
    await database.query("INSERT INTO access_changes (ids) VALUES ('{new}')");
    expect(await readRows(snapshot)).toBeLessThan(50);
    expect((await read(snapshot)).changes.map(([, ids]) => ids)).toEqual([['new']]);
    await open.query('COMMIT');
    const { changes: after } = await read(snapshot);
    expect(after.map(([, ids]) => ids)).toEqual([['new'], ['open']]);
  });

  it('reads the newest of a whole table by the index', async () => {
    expect(await readRows('3:3:')).toBeLessThan(MANY);
  });
});
