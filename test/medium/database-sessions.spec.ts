import { DataSource, type MigrationInterface, type QueryRunner } from 'typeorm';
import type { Settings } from '#platform/config/settings.js';
import { connectionProblem } from '#platform/database/connections/connection-problem.js';
import { newConnection } from '#platform/database/connections/connections.js';
import { dataSourceOptions } from '#platform/database/connections/data-source.js';
import { Listener } from '#platform/database/connections/listener.service.js';
import { migrate } from '#platform/database/migrations/migrate.js';
import { isDatabaseAway } from '#platform/database/queries/database-errors.js';
import { asAdmin, createTestDatabase, nameOf, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

type Values = Record<string, string>;
type Ask = (sql: string) => Promise<unknown[]>;

/** What an administrator may have set, and what each connection has all the same. */
const FOREIGN: [name: string, foreign: string, own: string][] = [
  ['DateStyle', 'German', 'ISO, MDY'],
  ['IntervalStyle', 'sql_standard', 'postgres'],
  ['TimeZone', 'Europe/Berlin', 'UTC'],
  ['client_encoding', 'LATIN1', 'UTF8'],
  ['bytea_output', 'escape', 'hex'],
  ['extra_float_digits', '-15', '1'],
  ['array_nulls', 'off', 'on'],
  ['standard_conforming_strings', 'off', 'on'],
  ['transform_null_equals', 'on', 'off'],
  ['quote_all_identifiers', 'on', 'off'],
  ['gin_fuzzy_search_limit', '1', '0'],
  ['default_transaction_isolation', 'serializable', 'read committed'],
  ['default_transaction_deferrable', 'on', 'off'],
  ['session_replication_role', 'replica', 'origin'],
  ['synchronous_commit', 'off', 'on'],
  ['idle_session_timeout', '1h', '0'],
  ['transaction_timeout', '1h', '0'],
];
/** The limits of the connections of the service, and of those that wait or migrate. */
const LIMITS = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'];
const OF_SERVICE: Values = {
  ...{ statement_timeout: '10s', lock_timeout: '5s', idle_in_transaction_session_timeout: '10s' },
  ...{ enable_seqscan: 'off', enable_hashjoin: 'off', enable_mergejoin: 'off', jit: 'off' },
  ...{ enable_nestloop: 'on', enable_indexscan: 'on', enable_bitmapscan: 'on', plan_cache_mode: 'auto' },
};
const UNLIMITED: Values = Object.fromEntries(LIMITS.map((name) => [name, '0']));

class Shows1799000000003 implements MigrationInterface {
  static seen: Values;
  name = 'Shows1799000000003';

  async up(queryRunner: QueryRunner): Promise<void> {
    Shows1799000000003.seen = await settingsOf((sql) => queryRunner.query(sql) as Promise<unknown[]>);
  }

  async down(): Promise<void> {}
}

const NAMES = [...new Set([...FOREIGN.map(([name]) => name), ...Object.keys(OF_SERVICE), 'search_path'])];

async function settingsOf(ask: Ask): Promise<Values> {
  const [row] = await ask(
    `SELECT ${NAMES.map((name) => `current_setting('${name}') AS "${name}"`).join(', ')}`,
  );
  return row as Values;
}

describe('each connection to the database', () => {
  let database: TestDatabase;
  const open: (() => Promise<unknown>)[] = [];
  beforeAll(async () => (database = await createTestDatabase()));
  afterEach(async () => {
    for (const close of open.splice(0)) await close();
    await asAdmin(async (admin) => {
      await admin.query(`ALTER DATABASE ${nameOf(database)} RESET ALL`);
      await admin.query(`ALTER ${ofService()} RESET ALL`);
    });
  });
  afterAll(() => database.drop());

  const set = (settings: [name: string, value: string][], whose = `DATABASE ${nameOf(database)}`) =>
    asAdmin(async (admin) => {
      for (const [name, value] of settings) await admin.query(`ALTER ${whose} SET ${name} = '${value}'`);
    });
  const ofService = () => `ROLE charging_service IN DATABASE ${nameOf(database)}`;

  async function pool(url: string): Promise<Values> {
    const dataSource = await new DataSource(dataSourceOptions(url, 1)).initialize();
    open.push(() => dataSource.destroy());
    return settingsOf((sql) => dataSource.query(sql));
  }

  async function listening(url: string): Promise<Values> {
    const listener = new Listener({ databaseUrl: url } as Settings);
    open.push(() => listener.beforeApplicationShutdown());
    listener.onApplicationBootstrap();
    await until('it listens', () => listener.isConnected);
    return settingsOf((text) => listener.query({ text }));
  }

  async function migrating(url: string): Promise<Values> {
    await migrate(url, undefined, { migrations: [Shows1799000000003] });
    return Shows1799000000003.seen;
  }

  async function single(url: string): Promise<Values> {
    const connection = newConnection(url, {});
    open.push(() => connection.end());
    await connection.connect();
    return settingsOf(async (sql) => (await connection.query(sql)).rows as unknown[]);
  }

  /** Two servers, of which the second has the database. */
  const ofSeveral = (url: string): string => url.replace(/@(.*)\//, '@127.0.0.1:1,$1/');

  it.each<[string, (url: string) => Promise<Values>, Values]>([
    ['of the pool', pool, OF_SERVICE],
    ['of the pool, where there are several servers', (url) => pool(ofSeveral(url)), OF_SERVICE],
    ['that listens', listening, { ...UNLIMITED, enable_seqscan: 'off' }],
    ['of the migrations', migrating, { ...UNLIMITED, lock_timeout: '2s' }],
    ['of its own', single, UNLIMITED],
  ])('%s has what the code relies on, whatever the database has', async (_, settingsWith, own) => {
    const limits = LIMITS.map((name): [string, string] => [name, '1h']);
    await set([...FOREIGN.map(([name, value]): [string, string] => [name, value]), ...limits]);
    await set([['enable_nestloop', 'off'], ['enable_indexscan', 'off'], ['enable_bitmapscan', 'off'], ['plan_cache_mode', 'force_custom_plan']]); // prettier-ignore
    // By a superuser, who may change back what nobody else may.
    const found = await settingsWith(database.url);
    expect(found).toMatchObject({
      ...Object.fromEntries(FOREIGN.map(([name, , value]) => [name, value])),
      ...own,
    });
    expect(found.search_path).toBe('public');
  });

  it('has it whatever the role or the URL say', async () => {
    await set([['DateStyle', 'German'], ['statement_timeout', '1h']], ofService()); // prettier-ignore
    const url = `${database.serviceUrl}?statement_timeout=3600000&options=-c%20TimeZone%3DAsia%2FTokyo`;
    expect(await pool(url)).toMatchObject({
      DateStyle: 'ISO, MDY',
      TimeZone: 'UTC',
      statement_timeout: '10s',
    });
  });

  it('leaves it to the administrator which standbys a commit waits for', async () => {
    await set([['synchronous_commit', 'remote_apply']]);
    expect(await pool(database.url)).toMatchObject({ synchronous_commit: 'remote_apply' });
  });

  it('is refused where triggers are switched off for the role, and it may not switch them on', async () => {
    await set([['session_replication_role', 'replica']], ofService());
    const refused = await pool(database.serviceUrl!).catch((error: unknown) => connectionProblem(error));
    expect(refused).toBe('the user lacks a privilege in the database (42501)');
  });

  it('finds tables where they are, also when another schema comes first later', async () => {
    await database.query('CREATE SCHEMA charging_service AUTHORIZATION charging_service');
    await database.query('CREATE TABLE charging_service.users (id text)');
    try {
      expect((await pool(database.serviceUrl!)).search_path).toBe('public');
    } finally {
      await database.query('DROP SCHEMA charging_service CASCADE');
    }
  });

  it('takes a transaction that the server ended for an unavailable database', async () => {
    const session = { transaction_timeout: '50ms' };
    const dataSource = await new DataSource(
      dataSourceOptions(database.url, 1, { session, driver: {} }),
    ).initialize();
    open.push(() => dataSource.destroy());
    const ended: unknown = await dataSource.query('SELECT pg_sleep(600)').catch((error: unknown) => error);
    expect([isDatabaseAway(ended), ended]).toEqual([true, expect.any(Error)]);
  });
});
