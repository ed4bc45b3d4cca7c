import digests from '../../../../migrations/digests.json' with { type: 'json' };
import { MIGRATION_NAMES } from '../../../../migrations/index.js';
import { settingsRefused } from '#platform/config/process-environment.js';
import { readSchemaPlace, refuseOtherPlace, type Ask } from './schema-place.js';

/** The SHA-256 of the text of each migration, in hexadecimal (`npm run migration:record`). */
export const MIGRATION_DIGESTS: Readonly<Record<string, string>> = digests;

/** The schema from the perspective of a build. */
export interface SchemaState {
  /** Migrations that it lacks. */
  missing: string[];
  /** Required migrations that this build does not know. */
  unknown: string[];
  /** Migrations that have run with another text than they have in this build. */
  changed: string[];
  /** Migrations that have run and whose text is not recorded: a build without digests ran them, or the run was killed before that. */
  unrecorded: string[];
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
  // A build without digests made the table without their column.
  const run = isThere('migrations')
    ? await ask<{ name: string; digest: string | null }>(
        "SELECT name, to_jsonb(m) ->> 'digest' AS digest FROM migrations m",
      )
    : [];
  const required = isThere('required_migrations')
    ? await ask<{ name: string }>('SELECT name FROM required_migrations')
    : [];
  if (!isThere('required_migrations')) refuseOtherPlace(await readSchemaPlace(ask));
  const done = new Set(run.map(({ name }) => name));
  const ours = run.filter(({ name }) => known.has(name) && MIGRATION_DIGESTS[name] !== undefined);
  return {
    missing: [...known].filter((name) => !done.has(name)),
    unknown: required.map(({ name }) => name).filter((name) => !known.has(name)),
    changed: ours
      .filter(({ name, digest }) => digest !== null && digest !== MIGRATION_DIGESTS[name])
      .map(({ name }) => name),
    unrecorded: ours.filter(({ digest }) => digest === null).map(({ name }) => name),
  };
}

/**
 * Throws a SettingsError if the schema requires a newer build than this one, or if it was made by migrations that have another text
 * in this build: those of a release never change.
 */
export function refuseForeignSchema({ unknown, changed }: SchemaState): void {
  if (unknown.length > 0) {
    const newest = [...MIGRATION_NAMES].at(-1);
    throw settingsRefused(
      `DATABASE_URL points to a schema that requires a newer build with these migrations: ${unknown.join(', ')} ` +
        `(the newest that this build knows is ${newest})`,
    );
  }
  if (changed.length > 0) {
    throw settingsRefused(
      `DATABASE_URL points to a schema that was made by other migrations than those of this build: ${changed.join(', ')} ` +
        'have been changed since they ran',
    );
  }
}
