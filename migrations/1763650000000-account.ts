import type { MigrationInterface, QueryRunner } from 'typeorm';
import { backfillInBatches } from './support/backfill.js';
import { createIndexConcurrently, dropIndexConcurrently } from './support/concurrent-index.js';

// Hexadecimal digits are valid ULID characters too.
const NEW_ID = "'sess0' || upper(left(replace(gen_random_uuid()::text, '-', ''), 25))";

/**
 * What the account pages show about sessions: the time a session was last seen, and an id that may appear in a URL (the digest is
 * the lookup key of the cookie and stays internal). The id has a default, so that instances of the previous release can still
 * sign users in while this release is rolled out. A user's sessions are listed by id, therefore the index on the user includes
 * the id.
 */
export class Account1763650000000 implements MigrationInterface {
  name = 'Account1763650000000';
  /** Each step is short and runs in a transaction of its own; every step may run again. */
  transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    // Neither statement rewrites the table: no column is added with a default that differs per row.
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
    // The constraint is validated while the table is read and written; after that, SET NOT NULL takes only a moment.
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
