import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './support/concurrent-index.js';

/**
 * Sign-in through identity providers: who somebody is there, the sign-ins that browsers have started, and the logout tokens that were
 * used. A session that came from a provider stores when the person last authenticated there.
 */
export class IdentityProviders1763700200000 implements MigrationInterface {
  name = 'IdentityProviders1763700200000';
  /** Each step is short and runs in a transaction of its own; every step may run again. */
  transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE IF NOT EXISTS identities (
        issuer text NOT NULL,
        subject text NOT NULL,
        user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
        provider text NOT NULL,
        linked_at timestamptz NOT NULL DEFAULT now(),
        last_used_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (issuer, subject),
        CONSTRAINT identities_user_provider_key UNIQUE (user_id, provider)
      );
      CREATE TABLE IF NOT EXISTS provider_sign_ins (
        state_digest bytea PRIMARY KEY CHECK (length(state_digest) = 32),
        browser_digest bytea NOT NULL CHECK (length(browser_digest) = 32),
        provider text NOT NULL,
        sealed bytea NOT NULL,
        return_to text,
        user_id text REFERENCES users ON DELETE CASCADE,
        expires_at timestamptz NOT NULL
      );
      CREATE INDEX IF NOT EXISTS provider_sign_ins_browser_idx ON provider_sign_ins (browser_digest);
      CREATE INDEX IF NOT EXISTS provider_sign_ins_user_idx ON provider_sign_ins (user_id) WHERE user_id IS NOT NULL;
      CREATE INDEX IF NOT EXISTS provider_sign_ins_expires_at_idx ON provider_sign_ins (expires_at);
      CREATE TABLE IF NOT EXISTS logout_tokens (
        provider text NOT NULL,
        jti_digest bytea NOT NULL CHECK (length(jti_digest) = 32),
        expires_at timestamptz NOT NULL,
        PRIMARY KEY (provider, jti_digest)
      );
      CREATE INDEX IF NOT EXISTS logout_tokens_expires_at_idx ON logout_tokens (expires_at);
    `);
    await queryRunner.query('ALTER TABLE sessions ADD COLUMN IF NOT EXISTS authenticated_at timestamptz');
    await createIndexConcurrently(queryRunner, {
      name: 'sessions_provider_sid_idx',
      on: 'sessions (provider, provider_sid) WHERE provider_sid IS NOT NULL',
    });
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP INDEX sessions_provider_sid_idx;
      ALTER TABLE sessions DROP COLUMN authenticated_at;
      DROP TABLE logout_tokens, provider_sign_ins, identities;
    `);
  }
}
