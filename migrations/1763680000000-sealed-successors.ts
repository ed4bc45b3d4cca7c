import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Sealed successor pairs get a table of their own. It holds the pairs of about a minute, and deletions from it do not touch the
 * large table of refresh tokens, where every change writes to the indexes. No version before this one was released: instances of
 * such a version cannot refresh with this schema.
 */
export class SealedSuccessors1763680000000 implements MigrationInterface {
  name = 'SealedSuccessors1763680000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE sealed_successors (
        -- The digest of the retired token. No foreign key: a pair expires with its grace time, and only that token opens it.
        digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
        grace_ends_at timestamptz NOT NULL,
        sealed bytea NOT NULL
      );
      CREATE INDEX sealed_successors_grace_ends_at_idx ON sealed_successors (grace_ends_at);
      INSERT INTO sealed_successors (digest, grace_ends_at, sealed)
      SELECT digest, grace_ends_at, sealed_successor FROM refresh_tokens
       WHERE sealed_successor IS NOT NULL AND grace_ends_at > now();
      ALTER TABLE refresh_tokens DROP COLUMN sealed_successor;
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE refresh_tokens ADD COLUMN sealed_successor bytea;
      CREATE INDEX refresh_tokens_sealed_idx ON refresh_tokens (grace_ends_at) WHERE sealed_successor IS NOT NULL;
      UPDATE refresh_tokens r SET sealed_successor = s.sealed FROM sealed_successors s WHERE s.digest = r.digest;
      DROP TABLE sealed_successors;
    `);
  }
}
