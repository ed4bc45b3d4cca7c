import type { MigrationInterface, QueryRunner } from 'typeorm';
import { backfillInBatches } from './support/backfill.js';
import { createIndexConcurrently, dropIndexConcurrently } from './support/concurrent-index.js';

// Hexadecimal digits are letters of a ULID too.
const NEW_ID = "'sess0' || upper(left(replace(gen_random_uuid()::text, '-', ''), 25))";

/**
 * What the users' own page shows of sessions. A session gets an id that may stand in an address (its digest is the key
 * that the cookie is found by, and stays inside) and the time it was last seen. The id has a default, so that instances of
 * the release before can go on signing people in while this one is rolled out. A user's sessions are listed by id, so that
 * the index over the user takes the id along.
 */
export class Account1763650000000 implements MigrationInterface {
  name = 'Account1763650000000';
  /** Each step is short and a transaction of its own; all of them may be run again. */
  transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    // Neither writes the table anew: no default that differs from row to row comes with the column.
    await queryRunner.query(`
      ALTER TABLE sessions ADD COLUMN IF NOT EXISTS id text, ADD COLUMN IF NOT EXISTS last_seen_at timestamptz;
      ALTER TABLE sessions ALTER COLUMN id SET DEFAULT ${NEW_ID}, ALTER COLUMN last_seen_at SET DEFAULT now();
    `);
    await backfillInBatches(queryRunner, {
      table: 'sessions',
      key: 'digest',
      set: `id = coalesce(id, ${NEW_ID}), last_seen_at = coalesce(last_seen_at, created_at)`,
      where: 'id IS NULL OR last_seen_at IS NULL',
    });
    await createIndexConcurrently(queryRunner, {
      name: 'sessions_id_key',
      on: 'sessions (id)',
      unique: true,
    });
    await createIndexConcurrently(queryRunner, {
      name: 'sessions_user_id_id_idx',
      on: 'sessions (user_id, id)',
    });
    await dropIndexConcurrently(queryRunner, 'sessions_user_id_idx');
    // Checked while the table is read and written; what was checked makes NOT NULL a matter of a moment.
    await queryRunner.query(`
      ALTER TABLE sessions DROP CONSTRAINT IF EXISTS sessions_seen, DROP CONSTRAINT IF EXISTS sessions_id_check;
      ALTER TABLE sessions
        ADD CONSTRAINT sessions_seen CHECK (id IS NOT NULL AND last_seen_at IS NOT NULL) NOT VALID,
        ADD CONSTRAINT sessions_id_check CHECK (id ~ '^sess[0-9A-HJKMNP-TV-Z]{26}$') NOT VALID;
    `);
    await queryRunner.query('ALTER TABLE sessions VALIDATE CONSTRAINT sessions_seen');
    await queryRunner.query('ALTER TABLE sessions VALIDATE CONSTRAINT sessions_id_check');
    await queryRunner.query(`
      ALTER TABLE sessions ALTER COLUMN id SET NOT NULL, ALTER COLUMN last_seen_at SET NOT NULL;
      ALTER TABLE sessions DROP CONSTRAINT sessions_seen;
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP INDEX sessions_user_id_id_idx;
      CREATE INDEX sessions_user_id_idx ON sessions (user_id);
      ALTER TABLE sessions DROP COLUMN last_seen_at, DROP COLUMN id;
    `);
  }
}
