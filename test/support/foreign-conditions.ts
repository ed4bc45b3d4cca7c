import { escapeIdentifier, escapeLiteral } from 'pg';
import { migrate } from '../../src/database/migrations/migrate.js';
import { asAdmin, createTestDatabase, nameOf, type Reads, type TestDatabase } from './test-database.js';

/** A place where the service may be installed, and which is not like the tests' own. */
export interface ForeignCondition {
  name: string;
  /** Defaults of the database (`ALTER DATABASE … SET`). */
  database?: Record<string, string>;
  /** Defaults of the roles in it, which win over those (`ALTER ROLE … IN DATABASE … SET`). */
  role?: Record<string, string>;
  /** Where the tables are, instead of in `public`; only their owner's `search_path` names it. */
  schema?: string;
}

/** Times that are written otherwise, a zone that changes its clocks, and all else that changes how values look. */
const FORMATS = {
  DateStyle: 'German',
  IntervalStyle: 'sql_standard',
  TimeZone: 'Europe/Berlin',
  bytea_output: 'escape',
  extra_float_digits: '-15',
};

/** Each alone, so that a failure names its cause. A new condition is a line. */
export const FOREIGN_CONDITIONS: ForeignCondition[] = [
  { name: 'DateStyle German', database: { DateStyle: 'German' } },
  { name: 'DateStyle SQL', database: { DateStyle: 'SQL, DMY' } },
  { name: 'other formats of all values', database: FORMATS },
  { name: 'other formats of all values for the role', role: FORMATS },
  { name: 'isolation repeatable read', role: { default_transaction_isolation: 'repeatable read' } },
  { name: 'isolation serializable', database: { default_transaction_isolation: 'serializable' } },
  { name: 'array_nulls off', database: { array_nulls: 'off' } },
  {
    name: 'another reading of SQL',
    database: {
      standard_conforming_strings: 'off',
      transform_null_equals: 'on',
      quote_all_identifiers: 'on',
    },
  },
  {
    name: 'time limits of the role',
    role: {
      ...{ statement_timeout: '5s', lock_timeout: '1ms', transaction_timeout: '5s' },
      ...{ idle_session_timeout: '5s', idle_in_transaction_session_timeout: '5s' },
    },
  },
  {
    name: 'a planner that was told what not to do',
    database: {
      ...{ enable_indexscan: 'off', enable_bitmapscan: 'off', enable_nestloop: 'off' },
      ...{ plan_cache_mode: 'force_generic_plan', gin_fuzzy_search_limit: '1' },
    },
  },
  { name: 'commits that do not wait for the disk', database: { synchronous_commit: 'off' } },
  { name: 'a schema of its own', schema: 'Ladestrom & Süd' },
];

/** All settings in one place; of two values for one, the first. */
export const ALL_AT_ONCE: ForeignCondition = {
  name: 'all of this at once',
  database: Object.assign({}, ...FOREIGN_CONDITIONS.map(({ database }) => database).reverse()) as Record<
    string,
    string
  >,
  role: Object.assign({}, ...FOREIGN_CONDITIONS.map(({ role }) => role).reverse()) as Record<string, string>,
  schema: FOREIGN_CONDITIONS.findLast(({ schema }) => schema)?.schema,
};

/** The one under which all of a run is to work: `FOREIGN_CONDITION='DateStyle German' npm run jest -- test/e2e/refresh-token`. */
export const CONDITION_OF_RUN = conditionOfRun(process.env.FOREIGN_CONDITION);

function conditionOfRun(name: string | undefined): ForeignCondition | undefined {
  const found = FOREIGN_CONDITIONS.find((condition) => condition.name === name);
  if (name && !found) throw new Error(`FOREIGN_CONDITION: ${name} is none of the conditions`);
  return found;
}

const ROLES = ['charging_owner', 'charging_service'];

/** A test's own database in such a place. The connections of the tests themselves are as they always are. */
export async function createForeignDatabase({
  database: ofDatabase = {},
  role = {},
  schema,
}: ForeignCondition): Promise<TestDatabase & Reads> {
  // A copy of the template has its tables already.
  const database = await createTestDatabase(schema === undefined ? undefined : 'template0');
  const name = nameOf(database);
  const { username: tester } = new URL(database.url);
  await asAdmin(async (admin) => {
    const set = async (whose: string, settings: Record<string, string>) => {
      for (const [setting, value] of Object.entries(settings))
        await admin.query(`ALTER ${whose} SET ${setting} = ${escapeLiteral(value)}`);
    };
    const ofTester = `ROLE ${tester} IN DATABASE ${name}`;
    for (const setting of Object.keys(ofDatabase)) {
      const { rows } = await admin.query<{ value: string }>('SELECT current_setting($1) AS value', [setting]);
      await set(ofTester, { [setting]: rows[0]!.value });
    }
    await set(`DATABASE ${name}`, ofDatabase);
    for (const each of ROLES) await set(`ROLE ${each} IN DATABASE ${name}`, role);
    if (schema !== undefined) {
      await admin.query(`GRANT CREATE ON DATABASE ${name} TO ${ROLES[0]}`);
      for (const whose of [ofTester, `ROLE ${ROLES[0]} IN DATABASE ${name}`])
        await admin.query(`ALTER ${whose} SET search_path = ${escapeIdentifier(schema)}`);
    }
  });
  if (schema !== undefined) await migrateIn(schema, database);
  return database;
}

async function migrateIn(schema: string, { url, query }: TestDatabase): Promise<void> {
  await query(`CREATE SCHEMA ${escapeIdentifier(schema)} AUTHORIZATION ${ROLES[0]}`);
  // This connection is older than its default.
  await query(`SET search_path = ${escapeIdentifier(schema)}`);
  const owner = Object.assign(new URL(url), { username: ROLES[0] });
  await migrate(owner.href, undefined, { serviceRole: ROLES[1] });
}
