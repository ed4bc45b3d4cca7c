import { setTimeout as pause } from 'node:timers/promises';
import { DataSource, type DataSourceOptions, type MigrationInterface } from 'typeorm';
import { dataSourceOptions, type DataSourceSession } from '../connections/data-source.js';
import { RetryingDataSource } from '../connections/retrying-data-source.js';
import { isLockTimeout, isLostRace } from '../queries/database-errors.js';
import {
  KEEP_ALIVE,
  KEEP_ALIVE_OF_SERVER,
  requireSessionMode,
  underMigrationLock,
  type LockWait,
} from './migration-lock.js';
import { inSchema } from '../../../../migrations/support/in-schema.js';
import { tableByTable } from '../../../../migrations/support/table-by-table.js';
import { findSchemaDifferences, schemaDiffers } from './schema-objects.js';
import { readSchemaPlace, usableSchema, type Ask } from './schema-place.js';
import { MIGRATION_DIGESTS, readSchemaState, refuseForeignSchema } from './schema-state.js';
import { grantServiceRole } from './service-role.js';

// Statements queue behind one that waits for a lock. So it gives up while the others can still be served (their own limit is five
// seconds, `data-source.ts`), and lets them pass before it tries again.
const LOCK_TIMEOUT = '2s';
const REST_MS = 1_000;
const LONGEST_REST_MS = 10_000;
// About ten minutes, if someone keeps holding the lock.
const LOCK_ATTEMPTS = 60;

type Entities = Exclude<DataSourceOptions['entities'], undefined>;

export interface MigrateOptions extends LockWait {
  /** A role that gets only the privileges of the service (`service-role.ts`). */
  serviceRole?: string;
  /** Replaces the migrations of this build. */
  migrations?: (new () => MigrationInterface)[];
  /** What `afterwards` reads and inserts. */
  entities?: Entities;
}

/**
 * Runs the migrations and then `afterwards` under one lock: of several instances that start at once, one does the work, and the
 * others wait. A running service is not blocked for more than two seconds at a time. Returns the names of the migrations that
 * were run. Throws a SettingsError for a schema that requires a newer build.
 */
export async function migrate(
  url: string,
  afterwards: (dataSource: DataSource) => Promise<void> = async () => undefined,
  options: MigrateOptions = {},
): Promise<string[]> {
  const work = async () => {
    const done = await runMigrations(url, options);
    await withDataSource({ ...dataSourceOptions(url, 2), entities: options.entities }, afterwards);
    return done;
  };
  return underMigrationLock(url, work, options);
}

/**
 * The rest of a start whose migrations are run separately: runs `work` under the lock of the migrations, so that only one of
 * several instances creates the first data.
 */
export const prepare = (
  url: string,
  work: (dataSource: DataSource) => Promise<void>,
  entities: Entities,
  wait?: LockWait,
): Promise<void> =>
  underMigrationLock(url, () => withDataSource({ ...dataSourceOptions(url, 2), entities }, work), wait);

/** Runs `work` without the lock, also while another instance migrates. Throws a MigrationLockError where there could be no lock. */
export async function withoutLock<T>(
  url: string,
  entities: Entities,
  work: (dataSource: DataSource) => Promise<T>,
): Promise<T> {
  await requireSessionMode(url);
  return withDataSource({ ...dataSourceOptions(url, 2), entities }, work);
}

// A change to a large table may take long, but not while others wait for it. Meanwhile its connection is silent.
const OF_MIGRATIONS: DataSourceSession = {
  session: { ...KEEP_ALIVE_OF_SERVER, lock_timeout: LOCK_TIMEOUT },
  driver: KEEP_ALIVE,
};

async function runMigrations(
  url: string,
  { migrations, serviceRole, say = () => undefined }: MigrateOptions,
): Promise<string[]> {
  const options = {
    ...dataSourceOptions(url, 2, OF_MIGRATIONS),
    ...(migrations ? { migrations } : {}),
  };
  const run = async (dataSource: DataSource) => {
    const names = new Set(dataSource.migrations.map(({ name, constructor }) => name ?? constructor.name));
    const ask: Ask = (sql) => dataSource.query(sql);
    const before = await readSchemaState(ask, names);
    refuseForeignSchema(before);
    if (before.missing.length > 0) {
      const schema = usableSchema(await readSchemaPlace(ask));
      const migrations = dataSource.migrations.map((each) => tableByTable(inSchema(each, schema)));
      Object.assign(dataSource, { migrations });
    }
    if (serviceRole !== undefined) await retried(say, () => grantServiceRole(dataSource, serviceRole));
    await retried(say, () => dataSource.runMigrations({ transaction: 'each' }));
    // Covers what migrations created without default privileges, and revokes what the service must not change.
    if (serviceRole !== undefined) await retried(say, () => grantServiceRole(dataSource, serviceRole));
    await recordDigests(ask, names, say);
    return before.missing;
  };
  // A migration is run again as a whole: an index that it could not build is in the way of a second one.
  return withDataSource(options, run, DataSource);
}

/**
 * Records the text with which each migration has run, so that no build with another one works on what it made. Those of a schema that
 * differs stay unrecorded, because nobody knows what made it.
 */
async function recordDigests(
  ask: Ask,
  names: ReadonlySet<string>,
  say: (line: string) => void,
): Promise<void> {
  const { unrecorded } = await readSchemaState(ask, names);
  if (unrecorded.length === 0) return;
  const differences = await findSchemaDifferences(ask);
  if (differences.length > 0) return say(schemaDiffers(differences));
  const digests = unrecorded.map((name) => `('${name}', '${MIGRATION_DIGESTS[name]}')`);
  await retried(say, () => ask('ALTER TABLE migrations ADD COLUMN IF NOT EXISTS digest text'));
  await ask(
    `UPDATE migrations m SET digest = d.digest FROM (VALUES ${digests.join(', ')}) d (name, digest) WHERE m.name = d.name AND m.digest IS NULL`,
  );
}

/** What a migrated schema lacks, or has changed, of what a fresh one has. */
export const schemaDifferencesOf = (url: string): Promise<string[]> =>
  withDataSource(dataSourceOptions(url, 1), (dataSource) =>
    findSchemaDifferences((sql) => dataSource.query(sql)),
  );

/** Of the service, unless `Kind` says otherwise. */
async function withDataSource<T>(
  options: DataSourceOptions,
  work: (dataSource: DataSource) => Promise<T>,
  Kind: new (options: DataSourceOptions) => DataSource = RetryingDataSource,
): Promise<T> {
  const dataSource = await new Kind(options).initialize();
  try {
    return await work(dataSource);
  } finally {
    await dataSource.destroy();
  }
}

/** Completed work is kept: a later run continues with the migration that could not get its lock. */
async function retried<T>(say: (line: string) => void, run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (attempt === LOCK_ATTEMPTS || !(isLockTimeout(error) || isLostRace(error))) throw error;
      if (attempt === 1) say('Another transaction holds a lock that a migration needs; trying again …');
      await pause(Math.min(REST_MS * attempt, LONGEST_REST_MS));
    }
  }
}
