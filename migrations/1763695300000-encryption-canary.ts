import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A sealed text that shows whether the service has the key of this database (src/webhooks/signing/encryption-canary.ts). */
export class EncryptionCanary1763695300000 implements MigrationInterface {
  name = 'EncryptionCanary1763695300000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE encryption_canary (
        -- Exactly one row.
        singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
        key_id text NOT NULL,
        sealed bytea NOT NULL,
        sealed_at timestamptz NOT NULL DEFAULT now()
      );
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE encryption_canary');
  }
}
