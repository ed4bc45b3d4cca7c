import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { DataSource, type MigrationInterface, type QueryRunner } from 'typeorm';
import { PlainerWords1795911799970 } from '../../migrations/1795911799970-plainer-words.js';
import { MIGRATIONS } from '../../migrations/index.js';
import { tableByTable } from '../../migrations/support/table-by-table.js';
import { dataSourceOptions } from '#platform/database/connections/data-source.js';
import { migrate, schemaDifferencesOf } from '#platform/database/migrations/migrate.js';
import { readSchemaObjects } from '#platform/database/migrations/schema-objects.js';
import { MIGRATION_DIGESTS } from '#platform/database/migrations/schema-state.js';
import recordedSchema from '../../migrations/schema.json' with { type: 'json' };
import { releases } from '../support/previous-release.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { untilHourHasRoom } from '../support/hours.js';
import { type TestService, until, useSharedService } from '../support/spec.js';

type Row = Record<string, unknown>;

/** Used only by SQL: a trigger writes the first, and one statement reads it with what it is about; the second is read before the data source exists. */
const BY_SQL_ALONE = ['access_changes_purged', 'required_migrations'];

describe('migrations', () => {
  let admin: Client;
  const made: string[] = [];
  const open = new Set<DataSource>();

  beforeAll(async () => {
    admin = new Client({ connectionString: databaseUrl('postgres') });
    await admin.connect();
  });
  afterAll(async () => {
    await Promise.all([...open].map((dataSource) => dataSource.destroy()));
    for (const name of made) await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
    await admin.end();
  });

  function databaseUrl(name: string): string {
    const url = new URL(process.env.TEST_DATABASE_URL!);
    url.pathname = `/${name}`;
    return url.href;
  }

  async function emptyDatabase(): Promise<string> {
    const name = `empty_${randomBytes(8).toString('hex')}`;
    await admin.query(`CREATE DATABASE ${name} TEMPLATE template0`);
    made.push(name);
    return databaseUrl(name);
  }

  async function connect(url: string): Promise<DataSource> {
    const dataSource = await new DataSource(dataSourceOptions(url, 2)).initialize();
    open.add(dataSource);
    return dataSource;
  }

  /** All there is in the database, apart from TypeORM's own table. */
  const structure = (dataSource: DataSource): Promise<Row[]> =>
    dataSource.query(`
      SELECT 'column' AS kind, table_name || '.' || column_name AS name,
             concat_ws(' ', data_type, udt_name, is_nullable, column_default) AS definition
        FROM information_schema.columns WHERE table_schema = 'public' AND table_name <> 'migrations'
      UNION ALL
      SELECT 'index', indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename <> 'migrations'
      UNION ALL
      SELECT 'constraint', conrelid::regclass || '.' || conname, pg_get_constraintdef(oid)
        FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND conrelid::regclass::text <> 'migrations'
      UNION ALL
      SELECT 'trigger', tgrelid::regclass || '.' || tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
      UNION ALL
      SELECT 'function', proname, pg_get_functiondef(oid)
        FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND NOT EXISTS (
               SELECT 1 FROM pg_depend d WHERE d.objid = pg_proc.oid AND d.deptype = 'e')
      UNION ALL
      SELECT 'statistics', stxname, pg_get_statisticsobjdef(oid)
        FROM pg_statistic_ext WHERE stxnamespace = 'public'::regnamespace
      ORDER BY 1, 2, 3`);

  it('go up on an empty database, down again to nothing, and up again to the same', async () => {
    // The names of partitions are those of days and months.
    await untilHourHasRoom();
    const dataSource = await connect(await emptyDatabase());
    await dataSource.runMigrations({ transaction: 'each' });
    const up = await structure(dataSource);
    expect(up.length).toBeGreaterThan(100);
    for (let n = 0; n < MIGRATIONS.length; n++) await dataSource.undoLastMigration({ transaction: 'each' });
    expect(await structure(dataSource)).toEqual([]);
    const types: Row[] = await dataSource.query(
      "SELECT typname FROM pg_type WHERE typnamespace = 'public'::regnamespace AND typname !~ 'migrations'",
    );
    expect(types).toEqual([]);
    await dataSource.runMigrations({ transaction: 'each' });
    expect(await structure(dataSource)).toEqual(up);
    expect(await dataSource.runMigrations({ transaction: 'each' })).toEqual([]);
  });

  it('rise in time, and each says its name', () => {
    const names = MIGRATIONS.map((migration) => new migration().name);
    expect(names).toEqual([...names].sort((a, b) => Number(a.slice(-13)) - Number(b.slice(-13))));
    expect(new Set(names).size).toBe(names.length);
    for (const [n, migration] of MIGRATIONS.entries()) expect(migration.name).toBe(names[n]);
  });

  /** The migration, which notes the tables that it keeps from others in one transaction, apart from those that it makes. */
  function watched(Migration: (typeof MIGRATIONS)[number], kept: (tables: string[]) => void) {
    const { name, transaction, up, down } = tableByTable(new Migration());
    const isApart = transaction === false;
    const noted = async (queryRunner: QueryRunner, work: () => Promise<unknown>) => {
      const tables = async (condition: string): Promise<string[]> => {
        const rows = await queryRunner.query(
          `SELECT c.oid::regclass::text AS name FROM pg_class c
            WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace AND ${condition} ORDER BY 1`,
        );
        return (rows as { name: string }[]).map((row) => row.name);
      };
      const before = await tables('true');
      const result = await work();
      const held = await tables(
        `EXISTS (SELECT 1 FROM pg_locks WHERE relation = c.oid AND pid = pg_backend_pid()
                    AND mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock'))`,
      );
      kept(held.filter((table) => before.includes(table)));
      return result;
    };
    const eachApart = (queryRunner: QueryRunner): QueryRunner => {
      const query = async (sql: string, parameters?: unknown[]) => {
        const run = () => queryRunner.query(sql, parameters);
        if (/CONCURRENTLY/.test(sql)) return run();
        await queryRunner.startTransaction();
        const result = await noted(queryRunner, run);
        await queryRunner.commitTransaction();
        return result;
      };
      return Object.assign(Object.create(queryRunner) as QueryRunner, { query });
    };
    return class implements MigrationInterface {
      name = name!;
      transaction = transaction;
      up = (queryRunner: QueryRunner) =>
        isApart ? up(eachApart(queryRunner)) : noted(queryRunner, () => up(queryRunner));
      down = down;
    };
  }

  it('each keep at most one table from others at a time, so that none of their statements that read two waits for ever', async () => {
    const ofRelease = Object.values(releases)[0]!.migrations;
    const kept: Record<string, string[][]> = {};
    const all = MIGRATIONS.map((Migration) =>
      Migration.name in ofRelease
        ? Migration
        : watched(Migration, (tables) => (kept[Migration.name] ??= []).push(tables)),
    );
    await migrate(await emptyDatabase(), undefined, { migrations: all });
    expect(kept.ResourceIndicators1796110000000).toContainEqual(['grants']);
    const several = Object.entries(kept).filter(([, each]) => each.some((tables) => tables.length > 1));
    expect(several).toEqual([]);
  });

  it('run once, by five instances at once on an empty database', async () => {
    const url = await emptyDatabase();
    const order: string[] = [];
    await Promise.all(
      Array.from({ length: 5 }, (_, n) =>
        migrate(url, async (dataSource) => {
          order.push(`${n} in`);
          expect(await dataSource.showMigrations()).toBe(false);
          order.push(`${n} out`);
        }),
      ),
    );
    // What follows the migrations is under the same lock: each was alone.
    expect(order).toHaveLength(10);
    for (let n = 0; n < 10; n += 2) expect(order[n + 1]).toBe(order[n]!.replace('in', 'out'));
    const dataSource = await connect(url);
    const run: Row[] = await dataSource.query('SELECT name FROM migrations ORDER BY id');
    expect(run.map((row) => row.name)).toEqual(MIGRATIONS.map((migration) => migration.name));
  });

  it('change the words of scopes and event types where they are the first ones, and not what an operator wrote', async () => {
    const database = await createTestDatabase();
    const dataSource = await connect(database.url);
    const runner = dataSource.createQueryRunner();
    const words = async (): Promise<unknown[]> =>
      (
        await dataSource.query<{ words: Record<string, string> }[]>(
          `SELECT translations AS words FROM scopes WHERE name IN ('charging_session:read', 'vehicle:read')
           UNION ALL SELECT translations FROM event_types WHERE name = 'charging_session.created' ORDER BY 1`,
        )
      ).map((row) => row.words);
    const text = async () => JSON.stringify(await words());
    expect(await text()).toContain('ob sie angeschlossen sind');
    expect(await text()).toContain('cuánta energía se cargó');
    expect(await text()).not.toMatch(/angesteckt|energía fue/);
    const migration = new PlainerWords1795911799970();
    const now = await words();
    await migration.down(runner);
    expect(await text()).toContain('ob sie angesteckt sind');
    await dataSource.query(
      `UPDATE scopes SET translations = translations || '{"de": "Ihre Autos"}' WHERE name = 'vehicle:read'`,
    );
    await migration.up(runner);
    expect(await text()).toContain('Ihre Autos');
    expect(await text()).not.toMatch(/angesteckt|angeschlossen sind|energía fue/);
    await dataSource.query(
      `UPDATE scopes SET translations = translations || '{"de": "Ihre Fahrzeuge sehen: Marke, Modell, Ladestand und ob sie angesteckt sind"}'
        WHERE name = 'vehicle:read'`,
    );
    await migration.up(runner);
    expect(await words()).toEqual(now);
    await runner.release();
    open.delete(dataSource);
    await dataSource.destroy();
    await database.drop();
  });

  it('let go of their lock and connections when something fails', async () => {
    const url = await emptyDatabase();
    const failing = migrate(url, () => Promise.reject(new Error('the first data is wrong')));
    await expect(failing).rejects.toThrow('the first data is wrong');
    await migrate(url, async () => {});
    await until('every connection is closed', async () => {
      const sql = 'SELECT 1 FROM pg_stat_activity WHERE datname = $1';
      return (await admin.query(sql, [made.at(-1)])).rows.length === 0;
    });
  });

  describe('and what is recorded of them:', () => {
    let database: TestDatabase;
    let url: string;
    beforeEach(async () => {
      database = await createTestDatabase();
      ({ url } = database);
    });
    afterEach(() => database.drop());
    const query = (sql: string) => database.query(sql);
    const recorded = async () =>
      Object.fromEntries(
        (await query('SELECT name, digest FROM migrations')).map(({ name, digest }) => [name, digest]),
      );

    it('a migration that was changed after it ran stops the next run, and is named', async () => {
      await query(`UPDATE migrations SET digest = repeat('0', 64) WHERE name = 'Tokens1764000000004'`);
      await expect(migrate(url)).rejects.toThrow(
        'was made by other migrations than those of this build: Tokens1764000000004 have been changed since they ran',
      );
    });

    it('the digest of each is that of its text, and a database of a build without digests gets them', async () => {
      expect(await recorded()).toEqual(MIGRATION_DIGESTS);
      await query('ALTER TABLE migrations DROP COLUMN digest');
      expect(await migrate(url)).toEqual([]);
      expect(await recorded()).toEqual(MIGRATION_DIGESTS);
    });

    it('a schema that is not what they make gets no digests, and is told what differs', async () => {
      await query('UPDATE migrations SET digest = NULL');
      await query('DROP INDEX consents_user_id_idx');
      const said: string[] = [];
      await migrate(url, undefined, { say: (line) => said.push(line) });
      expect(said).toEqual([
        'the schema of the database is not that of this build: index consents.consents_user_id_idx is missing',
      ]);
      expect(new Set(Object.values(await recorded()))).toEqual(new Set([null]));
      expect(await schemaDifferencesOf(url)).toEqual(['index consents.consents_user_id_idx is missing']);
    });

    it('a run that was killed in the middle goes on', async () => {
      await query('ALTER TABLE migrations DROP COLUMN digest');
      await query(`DELETE FROM migrations WHERE name = 'DisabledUsers1795675000000'`);
      await query('DROP INDEX users_disabled_idx');
      expect(await migrate(url)).toEqual(['DisabledUsers1795675000000']);
      expect(await recorded()).toEqual(MIGRATION_DIGESTS);
    });

    it('a fresh database has what is recorded, in every PostgreSQL', async () => {
      expect(await schemaDifferencesOf(url)).toEqual([]);
      expect(await readSchemaObjects(database.query)).toEqual(recordedSchema);
    });

    it.each([
      ['ALTER TABLE clients DROP COLUMN gatekeeper CASCADE', 'column clients.gatekeeper is missing'],
      ['ALTER TABLE clients ALTER name DROP NOT NULL', 'column clients.name is another one'],
      ['ALTER TABLE clients ADD more text NOT NULL', 'column clients.more does not belong there'],
      ['ALTER TABLE log_exports SET UNLOGGED', 'table log_exports is another one'],
      ['DROP TABLE log_exports', 'table log_exports is missing'],
      ['ALTER TABLE clients DISABLE TRIGGER ALL', /^trigger clients\.\w+ is another one$/],
      ['DROP TRIGGER consents_record_update ON consents', /^trigger consents\.\w+ is missing$/],
      [
        'CREATE TRIGGER more BEFORE DELETE ON clients EXECUTE FUNCTION protect_consent_words()',
        'trigger clients.more does not belong there',
      ],
      [
        `CREATE OR REPLACE FUNCTION new_delivery_id() RETURNS text LANGUAGE sql AS $$ SELECT 'dlvr' $$`,
        'function new_delivery_id() is another one',
      ],
      ['CREATE UNIQUE INDEX more ON clients (name)', 'index clients.more does not belong there'],
      [
        'ALTER TABLE clients ADD CONSTRAINT more CHECK (length(name) < 5)',
        'constraint clients.more does not belong there',
      ],
    ])('%s is noticed', async (change, difference) => {
      await query(change);
      const differences = await schemaDifferencesOf(url);
      expect(differences.length).toBeGreaterThan(0);
      for (const found of differences) expect(found).toMatch(difference);
    });

    it.each([
      'CREATE INDEX more ON clients (name)',
      'CREATE TABLE of_an_administrator (id integer PRIMARY KEY)',
      'CREATE FUNCTION of_an_administrator() RETURNS integer LANGUAGE sql AS $$ SELECT 1 $$',
      'CREATE EXTENSION pg_stat_statements',
      `ALTER TABLE clients ADD more text NOT NULL; INSERT INTO migrations (timestamp, name) VALUES (9e15, 'Later9')`,
    ])('%s is not', async (change) => {
      await query(change);
      expect(await schemaDifferencesOf(url)).toEqual([]);
    });
  });

  describe('and the entities', () => {
    const service = useSharedService();
    let database: TestService['database'];
    let dataSource: DataSource;
    beforeAll(async () => {
      ({ database } = service);
      dataSource = service.app.get(DataSource);
    });

    it('make an operator without a role an admin, and refuse roles that do not exist', async () => {
      const insert = (n: number, role: string) =>
        database.query(
          `INSERT INTO users (id, email, email_key, name, kind, role)
           VALUES ('user01HN2NJ9NMRZBXT1H6FT9N773' || $1, $1 || '@x', $1 || '@x', 'X', 'individual', $2)
           RETURNING operator_role AS is`,
          [String(n), role],
        );
      await database.query('BEGIN');
      try {
        expect([...(await insert(1, 'operator')), ...(await insert(2, 'user'))]).toEqual([
          { is: 'admin' },
          { is: null },
        ]);
        await expect(
          database.query("UPDATE users SET operator_role = 'owner' WHERE email = '1@x'"),
        ).rejects.toThrow('users_operator_role_check');
      } finally {
        await database.query('ROLLBACK');
      }
    });

    interface Column {
      type: string;
      nullable: boolean;
      hasDefault: boolean;
    }

    const columnsOf = async (table: string): Promise<Map<string, Column>> => {
      const rows = await database.query<{
        name: string;
        type: string;
        nullable: boolean;
        has_default: boolean;
      }>(
        `SELECT column_name AS name, CASE WHEN data_type = 'ARRAY' THEN substr(udt_name, 2) || '[]' ELSE udt_name END AS type,
                is_nullable = 'YES' AS nullable, column_default IS NOT NULL OR is_identity = 'YES' AS has_default
           FROM information_schema.columns WHERE table_schema = 'public' AND table_name = $1`,
        [table],
      );
      return new Map(
        rows.map(({ name, type, nullable, has_default }) => [
          name,
          { type, nullable, hasDefault: has_default },
        ]),
      );
    };

    const UDT_NAMES: Record<string, string> = { boolean: 'bool', integer: 'int4', bigint: 'int8' };

    it('agree: every table has its entity, and every column of an entity exists as it says', async () => {
      const tables = await database.query<{ name: string }>(
        "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_name <> 'migrations'",
      );
      const mapped = dataSource.entityMetadatas.map((metadata) => metadata.tableName).sort();
      expect([...mapped, ...BY_SQL_ALONE].sort()).toEqual(tables.map(({ name }) => name).sort());
      for (const metadata of dataSource.entityMetadatas) {
        const columns = await columnsOf(metadata.tableName);
        for (const column of metadata.columns.filter(({ query }) => query === undefined)) {
          const where = `${metadata.tableName}.${column.databaseName}`;
          const found = columns.get(column.databaseName);
          const type = UDT_NAMES[column.type as string] ?? (column.type as string);
          const expected = { type: column.isArray ? `${type}[]` : type, nullable: column.isNullable };
          expect([where, found && { type: found.type, nullable: found.nullable }]).toEqual([where, expected]);
        }
      }
    });

    it('agree: a row can be inserted from an entity without any column that it does not know', async () => {
      for (const metadata of dataSource.entityMetadatas) {
        const known = new Set(
          metadata.columns.filter((column) => column.isInsert).map((each) => each.databaseName),
        );
        for (const [name, column] of await columnsOf(metadata.tableName)) {
          const where = `${metadata.tableName}.${name}`;
          const isFilled = known.has(name) || column.nullable || column.hasDefault;
          expect([where, isFilled]).toEqual([where, true]);
        }
      }
    });

    it('agree on the primary keys', async () => {
      for (const metadata of dataSource.entityMetadatas) {
        const rows = await database.query<{ name: string }>(
          `SELECT a.attname AS name FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
            WHERE i.indrelid = $1::regclass AND i.indisprimary ORDER BY 1`,
          [metadata.tableName],
        );
        const primary = metadata.primaryColumns.map((column) => column.databaseName).sort();
        expect([metadata.tableName, rows.map(({ name }) => name)]).toEqual([metadata.tableName, primary]);
      }
    });

    /**
     * The foreign keys whose columns do not stand first in any index that can serve them. A realm, of which there are few, need not
     * stand in it: the other column finds the rows. The words of consents are never deleted.
     */
    const unserved = () =>
      database.query<{ table: string }>(`
        SELECT c.conrelid::regclass::text AS "table", c.conname AS name
          FROM pg_constraint c
         CROSS JOIN LATERAL (
           SELECT array_agg(a.attnum) AS columns FROM pg_attribute a
            WHERE a.attrelid = c.conrelid AND a.attnum = ANY (c.conkey) AND a.attname NOT IN ('realm', 'owner_realm')) finding
         WHERE c.contype = 'f' AND c.connamespace = 'public'::regnamespace AND c.confrelid <> 'consent_words'::regclass
           AND NOT EXISTS (
             SELECT 1 FROM pg_index i
              WHERE i.indrelid = c.conrelid AND i.indisvalid
                AND (i.indkey::int2[])[0:cardinality(finding.columns) - 1] @> finding.columns
                AND (i.indpred IS NULL OR pg_get_expr(i.indpred, i.indrelid) =
                     format('(%I IS NOT NULL)', (SELECT attname FROM pg_attribute
                                                  WHERE attrelid = c.conrelid AND attnum = c.conkey[1])))
           )`);

    it('have an index behind every foreign key, so that deleting what it names needs no scan of a table', async () => {
      expect(await unserved()).toEqual([]);
      // Without one of them, it is missed.
      await database.query('BEGIN');
      try {
        await database.query('DROP INDEX consents_user_id_idx');
        expect((await unserved()).map(({ table }) => table)).toEqual(['consents', 'consents']);
      } finally {
        await database.query('ROLLBACK');
      }
    });

    it('index what the service purges by, and keep no index twice', async () => {
      const twice = await database.query(`
        SELECT a.indexrelid::regclass::text AS "index"
          FROM pg_index a JOIN pg_index b ON a.indrelid = b.indrelid AND a.indexrelid < b.indexrelid
         WHERE a.indkey::text = b.indkey::text AND a.indclass::text = b.indclass::text
           AND coalesce(pg_get_expr(a.indpred, a.indrelid), '') = coalesce(pg_get_expr(b.indpred, b.indrelid), '')`);
      expect(twice).toEqual([]);
      const unindexed = await database.query(`
        SELECT c.table_name FROM information_schema.columns c
         WHERE c.table_schema = 'public' AND c.column_name = 'expires_at'
           AND c.table_name <> 'client_secrets' -- found by their client, and not purged
           AND NOT EXISTS (SELECT 1 FROM pg_indexes i
                            WHERE i.tablename = c.table_name AND i.indexdef ~ '\\(expires_at[,)]')`);
      expect(unindexed).toEqual([]);
    });
  });
});
