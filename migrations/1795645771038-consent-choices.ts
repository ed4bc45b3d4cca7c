import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What a client lets its users choose, how long their consents hold, and what tells of it: optional scopes, expiry, and whom the Data
 * Act keeps out.
 */
export class ConsentChoices1795645771038 implements MigrationInterface {
  name = 'ConsentChoices1795645771038';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE clients
        ADD COLUMN optional_scopes text[] NOT NULL DEFAULT '{}',
        ADD COLUMN consent_expiry_days integer CHECK (consent_expiry_days BETWEEN 1 AND 3650),
        -- Designated under the Digital Markets Act: it cannot receive data (Data Act, Article 5(3)).
        ADD COLUMN gatekeeper boolean NOT NULL DEFAULT false;

      -- Who was told that a consent will end, and of which end: a renewed consent is told of again.
      CREATE TABLE consent_notices (
        client_id text NOT NULL,
        user_id text NOT NULL,
        expires_at timestamptz NOT NULL,
        sent_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (client_id, user_id, expires_at),
        FOREIGN KEY (client_id, user_id) REFERENCES consents (client_id, user_id) ON DELETE CASCADE
      );
      CREATE INDEX consent_notices_expires_at_idx ON consent_notices (expires_at);
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TABLE consent_notices;
      ALTER TABLE clients DROP COLUMN optional_scopes, DROP COLUMN consent_expiry_days, DROP COLUMN gatekeeper;
    `);
  }
}
