import { Client } from 'pg';
import { DataSource, type MigrationInterface, type QueryRunner } from 'typeorm';
import { MIGRATIONS } from '../../migrations/index.js';
import { backfillInBatches } from '../../migrations/support/backfill.js';
import { createIndexConcurrently, dropIndexConcurrently } from '../../migrations/support/concurrent-index.js';
import { requireMigration, unrequireMigration } from '../../migrations/support/required-migration.js';
import { dataSourceOptions } from '#platform/database/connections/data-source.js';
import { migrate } from '#platform/database/migrations/migrate.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

const ROWS = 5_000;
const BATCH = 100;
const index = { name: 'things_size_idx', on: 'things (size)' };

class Fills1799000000000 implements MigrationInterface {
  name = 'Fills1799000000000';
  transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    const what = { table: 'things', key: 'id', set: 'size = 1', where: 'size IS NULL', size: BATCH };
    await backfillInBatches(queryRunner, what);
    await createIndexConcurrently(queryRunner, index);
  }

  async down(): Promise<void> {}
}

class Shows1799000000001 implements MigrationInterface {
  static seen: { lock_timeout: string; idle: number; interval: number; count: number }[];
  name = 'Shows1799000000001';

  async up(queryRunner: QueryRunner): Promise<void> {
    Shows1799000000001.seen = await queryRunner.query(
      `SELECT current_setting('lock_timeout') AS lock_timeout, current_setting('tcp_keepalives_idle')::int AS idle,
              current_setting('tcp_keepalives_interval')::int AS interval, current_setting('tcp_keepalives_count')::int AS count`,
    );
  }

  async down(): Promise<void> {}
}

class Contracts1799000000002 implements MigrationInterface {
  name = 'Contracts1799000000002';
  transaction = false as const;

  async up(queryRunner: QueryRunner): Promise<void> {
    await requireMigration(queryRunner, this.name);
    await queryRunner.query('ALTER TABLE things DROP COLUMN size');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE things ADD COLUMN size integer');
    await unrequireMigration(queryRunner, this.name);
  }
}

const withFill = { migrations: [...MIGRATIONS, Fills1799000000000] };

describe('migrations that run beside the service', () => {
  let database: TestDatabase;
  const open: Client[] = [];
  beforeEach(async () => {
    database = await createTestDatabase();
    await database.query(
      'CREATE TABLE things (id bytea PRIMARY KEY, size integer, changes integer NOT NULL DEFAULT 0)',
    );
    await database.query(
      `INSERT INTO things (id) SELECT sha256(convert_to(n::text, 'UTF8')) FROM generate_series(1, ${ROWS}) n`,
    );
    await database.query(`
      CREATE FUNCTION count_changes() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN NEW.changes := OLD.changes + 1; RETURN NEW; END';
      CREATE TRIGGER count_changes BEFORE UPDATE ON things FOR EACH ROW EXECUTE FUNCTION count_changes()`);
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((client) => client.end()));
    await database.drop();
  });

  async function connect(): Promise<Client> {
    const client = new Client({ connectionString: database.url });
    await client.connect();
    open.push(client);
    return client;
  }
  const filled = async () =>
    (await database.query<{ n: number }>('SELECT count(*)::int AS n FROM things WHERE size = 1'))[0]!.n;
  const isValid = async () =>
    (
      await database.query<{ valid: boolean }>(
        `SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass('${index.name}')`,
      )
    )[0]?.valid;

  it('continue where they were killed in the middle of a back-fill: no row is changed twice', async () => {
    const holder = await connect();
    // The migration waits for a row in the middle and is killed there.
    await holder.query('BEGIN');
    await holder.query(
      `SELECT FROM things WHERE id = (SELECT id FROM things ORDER BY id OFFSET ${ROWS / 2} LIMIT 1) FOR UPDATE`,
    );
    const killed = migrate(database.url, undefined, withFill).catch((error: Error) => error.message);
    await until('it waits', async () => {
      const waiting = await database.query(
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      );
      return waiting.length > 0;
    });
    const before = await filled();
    expect(before).toBe(ROWS / 2);
    // It gives the wait up after a while, and then waits again.
    await until('it is killed', async () => {
      const ended = await database.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = current_database() AND query LIKE '%UPDATE things%' AND pid <> pg_backend_pid()`,
      );
      return ended.length > 0;
    });
    expect(await killed).toMatch(/terminat/);
    expect(await filled()).toBe(before);
    await holder.query('ROLLBACK');
    expect(await migrate(database.url, undefined, withFill)).toEqual([Fills1799000000000.name]);
    const changes = await database.query('SELECT changes, count(*)::int AS n FROM things GROUP BY 1');
    expect(changes).toEqual([{ changes: 1, n: ROWS }]);
    expect(await isValid()).toBe(true);
  });

  it('wait for a locked row, and finish when it is unlocked', async () => {
    const holder = await connect();
    await holder.query('BEGIN');
    await holder.query('SELECT FROM things LIMIT 1 FOR UPDATE');
    const said: string[] = [];
    const migrating = migrate(database.url, undefined, { ...withFill, say: (line) => said.push(line) });
    await until('it was given up once', () => said.length > 0);
    await holder.query('ROLLBACK');
    await migrating;
    expect(await filled()).toBe(ROWS);
  });

  it('wait two seconds at most for a lock, on a connection whose client the server misses within a minute', async () => {
    await migrate(database.url, undefined, { migrations: [...MIGRATIONS, Shows1799000000001] });
    const [{ lock_timeout, idle, interval, count }] = Shows1799000000001.seen as [
      (typeof Shows1799000000001.seen)[0],
    ];
    expect(lock_timeout).toBe('2s');
    expect(idle).toBeGreaterThan(0);
    expect(idle + interval * count).toBeLessThanOrEqual(60);
  });

  it('mark the schema for older builds until they are undone', async () => {
    const required = async () => (await database.query('SELECT name FROM required_migrations')).map(({ name }) => name); // prettier-ignore
    const migrations = [...MIGRATIONS, Contracts1799000000002];
    await migrate(database.url, undefined, { migrations });
    expect(await required()).toEqual(['Contracts1799000000002']);
    await expect(migrate(database.url)).rejects.toThrow('requires a newer build');
    const dataSource = await new DataSource({
      ...dataSourceOptions(database.url, 2),
      migrations,
    }).initialize();
    await dataSource.undoLastMigration({ transaction: 'each' });
    await dataSource.destroy();
    expect(await required()).toEqual([]);
    expect(await migrate(database.url)).toEqual([]);
  });

  it('include rows that were inserted behind the back-fill', async () => {
    await database.query(`
      CREATE FUNCTION come_in() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          INSERT INTO things (id) VALUES ('\\x00') ON CONFLICT DO NOTHING;
          RETURN NULL;
        END $$;
      CREATE TRIGGER come_in AFTER UPDATE ON things FOR EACH STATEMENT EXECUTE FUNCTION come_in()`);
    await migrate(database.url, undefined, withFill);
    expect(await filled()).toBe(ROWS + 1);
  });

  it('rebuild an index that was left invalid, and drop one once', async () => {
    await database.query('UPDATE things SET size = 1');
    await expect(
      database.query('CREATE UNIQUE INDEX CONCURRENTLY things_size_idx ON things (size)'),
    ).rejects.toThrow('could not create unique index');
    expect(await isValid()).toBe(false);
    const dataSource = await new DataSource(dataSourceOptions(database.url, 2)).initialize();
    try {
      const runner = dataSource.createQueryRunner();
      await createIndexConcurrently(runner, index);
      // Running it again changes nothing.
      await createIndexConcurrently(runner, index);
      expect(await isValid()).toBe(true);
      await dropIndexConcurrently(runner, index.name);
      await dropIndexConcurrently(runner, index.name);
      expect(await isValid()).toBeUndefined();
      expect(await runner.query('SHOW lock_timeout')).toEqual([{ lock_timeout: '5s' }]);
      await runner.release();
    } finally {
      await dataSource.destroy();
    }
  });

  it('build an index while another instance waits for its turn, without a deadlock between the two', async () => {
    const reader = await connect();
    await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await reader.query('SELECT FROM things LIMIT 1');
    const first = migrate(database.url, undefined, withFill);
    await until('the index is begun', async () => (await isValid()) === false);
    const second = migrate(database.url, undefined, withFill);
    await until('the second asks for its turn', async () => {
      const asking = await database.query(
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%pg_try_advisory_lock%' AND pid <> pg_backend_pid()",
      );
      return asking.length >= 2;
    });
    await reader.query('COMMIT');
    expect(await Promise.all([first, second])).toEqual([[Fills1799000000000.name], []]);
    expect(await isValid()).toBe(true);
  });
});
