import { MIGRATION_NAMES } from '../../../migrations/index.js';
import { settingsRefused } from '../../config/process-environment.js';
import { readSchemaPlace, refuseOtherPlace, type Ask } from './schema-place.js';

/** The schema from the perspective of a build: migrations it lacks, and required migrations that this build does not know. */
export interface SchemaState {
  missing: string[];
  unknown: string[];
}

/**
 * Reads the schema from the perspective of a build with these migrations; an empty database lacks all of them. Throws a SettingsError
 * if the tables are where the role does not find them.
 */
export async function readSchemaState(
  ask: Ask,
  known: ReadonlySet<string> = MIGRATION_NAMES,
): Promise<SchemaState> {
  const tables = await ask<{ table: string }>(
    `SELECT t AS "table" FROM unnest(ARRAY['migrations', 'required_migrations']) t WHERE to_regclass(t) IS NOT NULL`,
  );
  const isThere = (name: string) => tables.some(({ table }) => table === name);
  const names = async (table: string) =>
    isThere(table) ? (await ask<{ name: string }>(`SELECT name FROM ${table}`)).map(({ name }) => name) : [];
  const done = new Set(await names('migrations'));
  if (!isThere('required_migrations')) refuseOtherPlace(await readSchemaPlace(ask));
  return {
    missing: [...known].filter((name) => !done.has(name)),
    unknown: (await names('required_migrations')).filter((name) => !known.has(name)),
  };
}

/** Throws a SettingsError if the schema requires a newer build than this one. */
export function refuseForeignSchema({ unknown }: SchemaState): void {
  if (unknown.length === 0) return;
  const newest = [...MIGRATION_NAMES].at(-1);
  throw settingsRefused(
    `DATABASE_URL points to a schema that requires a newer build with these migrations: ${unknown.join(', ')} ` +
      `(the newest that this build knows is ${newest})`,
  );
}
