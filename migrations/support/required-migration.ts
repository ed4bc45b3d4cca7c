import { setTimeout as pause } from 'node:timers/promises';
import type { QueryRunner } from 'typeorm';

/** Where builds that run are told; `src/database/schema-compatibility.service.ts` listens. */
export const REQUIREMENTS_CHANNEL = 'required_migrations';
// Announcements arrive within milliseconds; a listening connection that broke is back within half a second.
const HEARD_WITHIN_MS = 1_000;

/**
 * Marks the schema: from now on a build that does not know the migration must not work on it. The first thing that a migration
 * does that contracts (CONTRIBUTING.md, "Migrations"), with `transaction = false`: instances of older builds hear of it, and refuse what
 * comes to them, before anything that they need is gone.
 */
export async function requireMigration(queryRunner: QueryRunner, name: string): Promise<void> {
  await queryRunner.query(
    `WITH mark AS (INSERT INTO required_migrations (name) VALUES ($1) ON CONFLICT DO NOTHING)
     SELECT pg_notify($2, $1)`,
    [name, REQUIREMENTS_CHANNEL],
  );
  await pause(HEARD_WITHIN_MS);
}

/** Takes the mark back, in `down`. */
export const unrequireMigration = (queryRunner: QueryRunner, name: string): Promise<unknown> =>
  queryRunner.query('DELETE FROM required_migrations WHERE name = $1', [name]);
