import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './support/concurrent-index.js';

/** A session stores how it was started: with the password, a passkey, or through an identity provider. */
export class SessionMethods1763700000000 implements MigrationInterface {
  name = 'SessionMethods1763700000000';
  /** Each step is short and runs in a transaction of its own; every step may run again. */
  transaction = false as const;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE sessions
        ADD COLUMN IF NOT EXISTS method text NOT NULL DEFAULT 'password',
        ADD COLUMN IF NOT EXISTS provider text,
        ADD COLUMN IF NOT EXISTS provider_subject text,
        ADD COLUMN IF NOT EXISTS provider_sid text,
        DROP CONSTRAINT IF EXISTS sessions_method_check,
        DROP CONSTRAINT IF EXISTS sessions_provider_check,
        ADD CONSTRAINT sessions_method_check CHECK (method IN ('password', 'passkey', 'provider')) NOT VALID,
        ADD CONSTRAINT sessions_provider_check
          CHECK ((method = 'provider') = (provider IS NOT NULL AND provider_subject IS NOT NULL)) NOT VALID
    `);
    await queryRunner.query('ALTER TABLE sessions VALIDATE CONSTRAINT sessions_method_check');
    await queryRunner.query('ALTER TABLE sessions VALIDATE CONSTRAINT sessions_provider_check');
    await createIndexConcurrently(queryRunner, {
      name: 'sessions_provider_idx',
      on: 'sessions (provider, provider_subject) WHERE provider IS NOT NULL',
    });
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      'ALTER TABLE sessions DROP COLUMN method, DROP COLUMN provider, DROP COLUMN provider_subject, DROP COLUMN provider_sid',
    );
  }
}
