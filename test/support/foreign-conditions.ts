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

/** A place that is chosen for a run as a whole, in processes of its own (scripts/test-foreign.mjs). */
interface ForeignRun extends ForeignCondition {
  /** PostgreSQL as Debian has it, instead of the one that the project brings. */
  server?: 'installed';
  /** The language by whose rules the database compares, and changes between small and capital letters. */
  locale?: string;
  /** The release before has made the tables; this build has migrated them. */
  fromRelease?: true;
  /** So many users, events, deliveries and records of requests are there already. */
  rows?: number;
  /** PgBouncer is between the service and the server. */
  pooler?: true;
  /** Environment of the processes. */
  env?: Record<string, string>;
  /** Node.js of the container image. */
  node?: 'image';
  /** The processes run as a user who cannot write the folder of the project. */
  user?: 'ordinary';
  /** The only address at which the service and its partners are. */
  host?: '[::1]';
  /** HAProxy, as it is shipped, is in front of each instance. */
  balancer?: true;
  /** By so many seconds the clock of the processes differs from that of the database. */
  clockOff?: number;
  /** What people do with each form. */
  forms?: 'twice' | 'in two tabs';
  /** What the service prints is read a little at a time. */
  slowOutput?: true;
  /** What is run, instead of {@link FIXED_PART}. */
  part?: string[];
}

/** Times that are written otherwise, a zone that changes its clocks, and all else that changes how values look. */
const FORMATS = {
  DateStyle: 'German',
  IntervalStyle: 'sql_standard',
  TimeZone: 'Europe/Berlin',
  bytea_output: 'escape',
  extra_float_digits: '-15',
};

/** What a database may be like. Each alone, so that a failure names its cause. A new condition is a line. */
export const FOREIGN_DATABASES: ForeignCondition[] = [
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
      statement_timeout: '5s',
      lock_timeout: '1ms',
      transaction_timeout: '5s',
      idle_session_timeout: '5s',
      idle_in_transaction_session_timeout: '5s',
    },
  },
  {
    name: 'a planner that was told what not to do',
    database: {
      enable_indexscan: 'off',
      enable_bitmapscan: 'off',
      enable_nestloop: 'off',
      plan_cache_mode: 'force_generic_plan',
      gin_fuzzy_search_limit: '1',
    },
  },
  { name: 'commits that do not wait for the disk', database: { synchronous_commit: 'off' } },
  { name: 'a schema of its own', schema: 'Ladestrom & Süd' },
];

/** All settings in one place; of two values for one, the first. */
export const ALL_AT_ONCE: ForeignCondition = {
  name: 'other defaults of the database',
  database: Object.assign({}, ...FOREIGN_DATABASES.map(({ database }) => database).reverse()) as Record<
    string,
    string
  >,
  role: Object.assign({}, ...FOREIGN_DATABASES.map(({ role }) => role).reverse()) as Record<string, string>,
  schema: FOREIGN_DATABASES.findLast(({ schema }) => schema)?.schema,
};

/**
 * What is run under each: the first ways of drivers, partners and operators, the grants, a delivery, an export.
 * @public
 */
export const FIXED_PART = [
  'e2e/(authorization-code|refresh-token|deliveries|account-export|console-exports)',
  'browser/consent',
];
/** Those of them that send a form of a page. */
const WITH_FORMS = ['e2e/(authorization-code|account-export|console-exports)', 'browser/consent'];
const AWAY_FROM_THE_DATABASE = FIXED_PART.map((part) => part.replace('deliveries', 'event-fan-out'));

/**
 * What else is not everywhere as it is here. Before a landing, six neighbours without a part of their own are tried at once, in a sixth of
 * the time; at night, or if it is named, each alone.
 */
const FOREIGN_RUNS: ForeignRun[] = [
  { name: 'a process in New York', env: { TZ: 'America/New_York' } },
  { name: 'IPv6 alone', host: '[::1]' },
  { name: 'an ordinary user, and a folder that is read-only', user: 'ordinary' },
  { name: 'a pooler in session mode', pooler: true },
  { name: 'Turkish letters', locale: 'tr-TR', env: { LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8' } },
  { name: 'a load balancer', balancer: true },
  { name: 'Node.js of the image', node: 'image' },
  { name: 'the database of the release before', fromRelease: true },
  { name: 'large tables', rows: process.env.NIGHTLY ? 1_000_000 : 20_000 },
  { name: 'PostgreSQL 15', server: 'installed' },
  // The clock is that of the tests, too, so the deliveries are those whose tests do not look at times of the database.
  { name: 'a clock two hours ahead', clockOff: 7200, part: AWAY_FROM_THE_DATABASE },
  { name: 'every form posted twice', forms: 'twice', part: [...WITH_FORMS, 'browser/portal'] },
  { name: 'two tabs', forms: 'in two tabs', part: [...WITH_FORMS, 'e2e/portal-endpoints'] },
  { name: 'output that is read slowly', slowOutput: true, part: ['faults/(process|operator-tool)'] },
];

/**
 * Of the databases one at a time is tried by test/e2e/foreign-database.long.spec.ts, in less time.
 * @public
 */
export const FOREIGN_CONDITIONS: readonly ForeignRun[] = [ALL_AT_ONCE, ...FOREIGN_RUNS];

/** The one under which all of a run is to work, or several: `FOREIGN_CONDITION='DateStyle German + IPv6 alone' npm run jest -- test/e2e/refresh-token`. */
export const CONDITION_OF_RUN = conditionOfRun(process.env.FOREIGN_CONDITION);

/** Where services and receivers of webhooks are. */
export const LOOPBACK = CONDITION_OF_RUN?.host ?? '127.0.0.1';
/** The same as an address, not as part of a URL. */
export const LOOPBACK_ADDRESS = LOOPBACK.replace(/[[\]]/g, '');

function conditionOfRun(names: string | undefined): ForeignRun | undefined {
  if (!names) return undefined;
  const found = names.split(' + ').map((name) => {
    const condition = [...FOREIGN_DATABASES, ...FOREIGN_CONDITIONS].find((each) => each.name === name);
    if (!condition) throw new Error(`FOREIGN_CONDITION: ${name} is none of the conditions`);
    return condition;
  });
  const all = <Key extends 'database' | 'role' | 'env'>(key: Key) =>
    Object.assign(
      {},
      ...found.map((condition) => (key in condition ? (condition as ForeignRun)[key] : {})),
    ) as Record<string, string>;
  return {
    ...(Object.assign({}, ...found) as ForeignRun),
    database: all('database'),
    role: all('role'),
    env: all('env'),
  };
}
