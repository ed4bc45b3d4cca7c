import { asAdmin, nameOf, type TestDatabase } from './test-database.js';

/** A place where the service may be installed, and which is not like the tests' own. */
export interface ForeignCondition {
  name: string;
  /** Defaults of the database (`ALTER DATABASE … SET`). */
  database?: Record<string, string>;
  /** Defaults of the service's role in it, which win over those (`ALTER ROLE … IN DATABASE … SET`). */
  role?: Record<string, string>;
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
];

/** All settings in one place; of two values for one, the first. */
export const ALL_AT_ONCE: ForeignCondition = {
  name: 'all of this at once',
  database: Object.assign({}, ...FOREIGN_CONDITIONS.map(({ database }) => database).reverse()) as Record<
    string,
    string
  >,
  role: Object.assign({}, ...FOREIGN_CONDITIONS.map(({ role }) => role).reverse()) as Record<string, string>,
};

/** The one under which all of a run is to work: `FOREIGN_CONDITION='DateStyle German' npm run jest -- test/e2e/refresh-token`. */
export const CONDITION_OF_RUN = conditionOfRun(process.env.FOREIGN_CONDITION);

function conditionOfRun(name: string | undefined): ForeignCondition | undefined {
  const found = FOREIGN_CONDITIONS.find((condition) => condition.name === name);
  if (name && !found) throw new Error(`FOREIGN_CONDITION: ${name} is none of the conditions`);
  return found;
}

/** Makes a database of a test such a place; connections that are there already do not notice. */
export async function makeForeign(
  database: Pick<TestDatabase, 'url'>,
  { database: ofDatabase = {}, role = {} }: ForeignCondition,
): Promise<void> {
  const name = nameOf(database);
  const set = (whose: string, settings: Record<string, string>) =>
    Object.entries(settings).map(
      ([setting, value]) => `ALTER ${whose} SET ${setting} = ${quoted(setting, value)}`,
    );
  const statements = [
    ...set(`DATABASE ${name}`, ofDatabase),
    ...set(`ROLE charging_service IN DATABASE ${name}`, role),
  ];
  await asAdmin(async (admin) => {
    for (const statement of statements) await admin.query(statement);
  });
}

/** Lists are no text. */
const quoted = (setting: string, value: string): string => (setting === 'search_path' ? value : `'${value}'`);
