import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What the users' own page shows of sessions. A session gets an id that may stand in an address (its digest is the key
 * that the cookie is found by, and stays inside) and the time it was last seen. The id has a default, so that the rows
 * there are get one, and instances of the release before can go on signing people in while this one is rolled out. A user's sessions
 * are listed by id, so that the index over the user takes the id along.
 */
export class Account1763650000000 implements MigrationInterface {
  name = 'Account1763650000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE sessions
        -- Hexadecimal digits are letters of a ULID too.
        ADD COLUMN id text NOT NULL DEFAULT 'sess0' || upper(left(replace(gen_random_uuid()::text, '-', ''), 25))
          CONSTRAINT sessions_id_key UNIQUE CHECK (id ~ '^sess[0-9A-HJKMNP-TV-Z]{26}$'),
        ADD COLUMN last_seen_at timestamptz NOT NULL DEFAULT now();
      UPDATE sessions SET last_seen_at = created_at;
      DROP INDEX sessions_user_id_idx;
      CREATE INDEX sessions_user_id_idx ON sessions (user_id, id);
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP INDEX sessions_user_id_idx;
      CREATE INDEX sessions_user_id_idx ON sessions (user_id);
      ALTER TABLE sessions DROP COLUMN last_seen_at, DROP COLUMN id;
    `);
  }
}
