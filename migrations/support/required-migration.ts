import { setTimeout as pause } from 'node:timers/promises';
import type { QueryRunner } from 'typeorm';

/** The channel that informs running builds; `src/platform/database/migrations/schema-compatibility.service.ts` listens to it. */
export const REQUIREMENTS_CHANNEL = 'required_migrations';
// Announcements arrive within milliseconds; a listening connection that broke is back within half a second.
const HEARD_WITHIN_MS = 1_000;

/**
 * Marks the schema: from now on, a build that does not know the migration must not use it. A contracting migration
 * (CONTRIBUTING.md, "Migrations") calls this first, with `transaction = false`: instances of older builds are informed and refuse
 * requests before anything they need is gone.
 */
export async function requireMigration(queryRunner: QueryRunner, name: string): Promise<void> {
  await queryRunner.query(
    `WITH mark AS (INSERT INTO required_migrations (name) VALUES ($1) ON CONFLICT DO NOTHING)
     SELECT pg_notify($2, $1)`,
    [name, REQUIREMENTS_CHANNEL],
  );
  await pause(HEARD_WITHIN_MS);
}

/** Removes the mark again, in `down`. */
export const unrequireMigration = (queryRunner: QueryRunner, name: string): Promise<unknown> =>
  queryRunner.query('DELETE FROM required_migrations WHERE name = $1', [name]);
