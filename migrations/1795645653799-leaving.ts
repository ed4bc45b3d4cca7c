import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Drivers take their data along and delete their accounts by themselves (contract §13). */
export class Leaving1795645653799 implements MigrationInterface {
  name = 'Leaving1795645653799';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      -- Accounts whose owners want them deleted. The row is removed in the transaction that erases the account or keeps it after all.
      CREATE TABLE account_deletions (
        user_id text PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
        requested_at timestamptz NOT NULL DEFAULT now(),
        due_at timestamptz NOT NULL,
        -- Until when another instance leaves it alone.
        lease_until timestamptz NOT NULL DEFAULT '-infinity'
      );
      CREATE INDEX account_deletions_due_at_idx ON account_deletions (due_at);

      -- The link to a person's data: at most one. The data itself is read when the link is used.
      CREATE TABLE data_exports (
        user_id text PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
        digest bytea NOT NULL CONSTRAINT data_exports_digest_key UNIQUE CHECK (octet_length(digest) = 32),
        created_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz NOT NULL,
        used_at timestamptz
      );
      CREATE INDEX data_exports_expires_at_idx ON data_exports (expires_at);
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE data_exports, account_deletions');
  }
}
