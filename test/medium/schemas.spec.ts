import { randomBytes } from 'node:crypto';
import { MIGRATIONS } from '../../migrations/index.js';
import { inPlaceOfPublic, NAME_PUBLIC } from '../../migrations/support/in-schema.js';
import type { QueryRunner } from 'typeorm';
import { loadSettings } from '#platform/config/settings.js';
import { createLog } from '#platform/http/server/logging.js';
import { migrate, schemaDifferencesOf } from '#platform/database/migrations/migrate.js';
import { startFailure } from '#start/start-error.js';
import { prepareDatabase } from '#start/prepare-database.js';
import {
  asAdmin,
  createTestDatabase,
  nameOf,
  type Reads,
  type TestDatabase,
} from '../support/test-database.js';
import { TEST_ENCRYPTION_KEY } from '../support/test-encryption-key.js';

describe('the schema of the tables', () => {
  let database: TestDatabase & Reads;
  let roles: string[];
  beforeEach(async () => {
    database = await createTestDatabase('template0');
    roles = [];
  });
  afterEach(async () => {
    await database.drop();
    await asAdmin(async (admin) => {
      for (const role of roles) await admin.query(`DROP ROLE ${role}`);
    });
  });

  /** A role without any power, and its URL. */
  async function newRole(...grants: string[]): Promise<{ role: string; url: string }> {
    const role = `role_${randomBytes(4).toString('hex')}`;
    const url = new URL(database.url);
    await asAdmin((admin) => admin.query(`CREATE ROLE ${role} LOGIN PASSWORD '${url.password}'`));
    roles.push(role);
    for (const grant of grants) await sql(grant.replaceAll('$role', role));
    url.username = role;
    return { role, url: url.href };
  }
  const sql = (statement: string) => database.query(statement.replaceAll('$database', nameOf(database)));
  /** What a start of that role says, in one line; undefined if it has migrated. */
  const refusalOf = (url: string, options = {}) =>
    migrate(url, undefined, options).then(
      () => undefined,
      (error: unknown) => startFailure(error).message.replace(/role_\w{8}/g, 'ROLE').replaceAll(nameOf(database), 'DATABASE'), // prettier-ignore
    );
  const begins = 'The service cannot start with these settings: DATABASE_URL: ';
  const tables = () =>
    database.column<string>(
      `SELECT relname FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
        WHERE nspname !~ '^(pg_|information_schema)' AND relkind IN ('r', 'p')`,
    );

  it.each<[string, string[], string]>([
    [
      'a role that may create tables nowhere',
      [],
      'the role ROLE may not create tables in the schema public, the first of its search_path: GRANT CREATE ON SCHEMA public TO ROLE, or CREATE SCHEMA AUTHORIZATION ROLE',
    ],
    [
      'a role with a schema of its own that may create no others',
      ['CREATE SCHEMA AUTHORIZATION $role'],
      'the role ROLE may not create the schema partitions and the extension pg_trgm in the database DATABASE: GRANT CREATE ON DATABASE DATABASE TO ROLE',
    ],
    [
      'a search_path without any schema',
      [
        'GRANT CREATE ON DATABASE $database TO $role',
        'ALTER ROLE $role IN DATABASE $database SET search_path = nowhere',
      ],
      'the search_path of the role ROLE names no schema that it may use: CREATE SCHEMA AUTHORIZATION ROLE',
    ],
    [
      'a schema whose name cannot stand in functions',
      [
        'GRANT CREATE ON DATABASE $database TO $role',
        `CREATE SCHEMA "it's" AUTHORIZATION $role`,
        `ALTER ROLE $role IN DATABASE $database SET search_path = "it's"`,
      ],
      `the schema "it's" has one of the characters ' " % $ \\ in its name, so the tables cannot be in it`,
    ],
    [
      'a database with another schema for partitions',
      [
        'GRANT CREATE ON DATABASE $database TO $role',
        'CREATE SCHEMA AUTHORIZATION $role',
        'CREATE SCHEMA partitions',
      ],
      'the database DATABASE has a schema partitions, which the service makes for itself: one database holds one installation, and nothing else of that name',
    ],
  ])('refuses %s before the first statement, and says what to do', async (_, grants, reason) => {
    const { url } = await newRole(...grants);
    expect(await refusalOf(url)).toBe(begins + reason);
    expect(await tables()).toEqual([]);
  });

  it('may be any, and what is made there is the same: one of the role, by the usual search_path', async () => {
    const { url } = await newRole(
      'GRANT CREATE ON DATABASE $database TO $role',
      'CREATE SCHEMA AUTHORIZATION $role',
    );
    expect(await migrate(url)).toEqual(MIGRATIONS.map(({ name }) => name));
    expect(await migrate(url)).toEqual([]);
    expect(await schemaDifferencesOf(url)).toEqual([]);
    expect(
      await database.value('SELECT count(*)::int FROM pg_class WHERE relnamespace = $1::regnamespace', [
        'public',
      ]),
    ).toBe(0);
  });

  it('may have begun to be filled by a build that could not go on there', async () => {
    const { role, url } = await newRole(
      'GRANT CREATE ON DATABASE $database TO $role',
      'CREATE SCHEMA AUTHORIZATION $role',
    );
    const first = MIGRATIONS.findIndex(({ name }) => NAME_PUBLIC.has(name));
    await migrate(url, undefined, { migrations: MIGRATIONS.slice(0, first) });
    expect(await migrate(url)).toEqual(MIGRATIONS.slice(first).map(({ name }) => name));
    // Its functions work for the role, whatever its path becomes.
    await sql(`ALTER ROLE ${role} IN DATABASE $database SET search_path = public`);
    expect(await migrate(url)).toEqual([]);
  });

  it('is found by the role of the service without a search_path, once it has its rights, and not before', async () => {
    const owner = await newRole('GRANT CREATE ON DATABASE $database TO $role', 'CREATE SCHEMA "Ladestrom & Süd" AUTHORIZATION $role', 'ALTER ROLE $role IN DATABASE $database SET search_path = "Ladestrom & Süd"'); // prettier-ignore
    const service = await newRole();
    await migrate(owner.url);
    const start = async () => {
      const env = { NODE_ENV: 'production', BASE_URL: 'https://auth.example', MIGRATE_ON_START: 'false', BOOTSTRAP_OPERATOR_EMAIL: 'a@b.example', BOOTSTRAP_OPERATOR_PASSWORD: 'a long first password' }; // prettier-ignore
      const settings = await loadSettings({
        ...env,
        DATABASE_URL: service.url,
        ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
      });
      await prepareDatabase(
        settings,
        createLog('fatal', { write: () => undefined }),
        undefined,
        () => undefined,
      );
    };
    await expect(start()).rejects.toThrow(
      `the tables of the service are in the schema "Ladestrom & Süd", which the role ${service.role} may not use`,
    );
    await migrate(owner.url, undefined, { serviceRole: service.role });
    await start();
    expect(await database.column('SELECT email FROM "Ladestrom & Süd".users')).toEqual(['a@b.example']);
    // It may not migrate, and says who may.
    await database.query(`DELETE FROM "Ladestrom & Süd".migrations WHERE name ~ '^Mail'`);
    expect(await refusalOf(service.url)).toBe(
      `${begins}the tables in the schema "Ladestrom & Süd" belong to the role ROLE, which has to run the migrations, not ROLE`,
    );
  });

  it('is not guessed among several', async () => {
    const { url } = await newRole('GRANT CREATE ON DATABASE $database TO $role', 'CREATE SCHEMA AUTHORIZATION $role', 'CREATE SCHEMA one AUTHORIZATION $role', 'CREATE SCHEMA two AUTHORIZATION $role'); // prettier-ignore
    for (const schema of ['one', 'two']) await sql(`CREATE TABLE ${schema}.required_migrations (name text)`);
    expect(await refusalOf(url)).toBe(
      `${begins}several schemas have tables of the service (one, two), and the search_path of the role ROLE names none of them`,
    );
  });

  it('is named by no migration but those that say so', async () => {
    const naming: string[] = [];
    for (const Migration of MIGRATIONS) {
      const said: string[] = [];
      const runner = { query: (text: string) => void said.push(text) } as unknown as QueryRunner;
      const migration = new Migration();
      await Promise.allSettled([migration.up(runner), migration.down(runner)]);
      if (said.some((text) => inPlaceOfPublic(text, 'x') !== text)) naming.push(migration.name);
      for (const text of said) {
        const code = inPlaceOfPublic(text, 'x').replace(/--.*$/gm, '');
        expect([migration.name, code.match(/.*\bpublic\b(?!').*/g)]).toEqual([migration.name, null]);
      }
    }
    expect(naming).toEqual([...NAME_PUBLIC]);
  });
});
