import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The keys that sign tokens: random bytes, sealed under `ENCRYPTION_KEY`. One key signs. Retired keys verify for as long as one
 * of their tokens can be live; a revoked key does neither.
 */
export class TokenKeys1763699100000 implements MigrationInterface {
  name = 'TokenKeys1763699100000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE token_keys (
        -- Random; part of every token.
        id bigint PRIMARY KEY CHECK (id BETWEEN 1 AND 4294967295),
        sealed bytea NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        retired_at timestamptz,
        revoked_at timestamptz,
        -- The longest lifetimes, in seconds, of the access tokens and grants issued under this key.
        access_ttl integer NOT NULL,
        grant_ttl integer NOT NULL,
        CHECK (revoked_at IS NULL OR retired_at IS NOT NULL)
      );
      CREATE UNIQUE INDEX token_keys_signing_idx ON token_keys ((true)) WHERE retired_at IS NULL;
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE token_keys');
  }
}
