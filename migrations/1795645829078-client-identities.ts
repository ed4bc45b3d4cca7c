import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './support/concurrent-index.js';

/** What users see of a client besides its name: logo, site, privacy policy and the organisation behind it. */
export class ClientIdentities1795645829078 implements MigrationInterface {
  name = 'ClientIdentities1795645829078';
  transaction = false as const;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE clients
        ADD COLUMN IF NOT EXISTS site text CHECK (length(site) <= 2000),
        ADD COLUMN IF NOT EXISTS privacy_policy text CHECK (length(privacy_policy) <= 2000),
        ADD COLUMN IF NOT EXISTS organisation text CHECK (length(organisation) BETWEEN 1 AND 100),
        ADD COLUMN IF NOT EXISTS logo_id text
    `);
    await queryRunner.query(`
      ALTER TABLE clients
        DROP CONSTRAINT IF EXISTS clients_logo_id_fkey,
        ADD CONSTRAINT clients_logo_id_fkey FOREIGN KEY (logo_id) REFERENCES logos (id) NOT VALID
    `);
    await queryRunner.query('ALTER TABLE clients VALIDATE CONSTRAINT clients_logo_id_fkey');
    await createIndexConcurrently(queryRunner, {
      name: 'clients_logo_id_idx',
      on: 'clients (logo_id) WHERE logo_id IS NOT NULL',
    });
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE clients
        DROP COLUMN site, DROP COLUMN privacy_policy, DROP COLUMN organisation, DROP COLUMN logo_id
    `);
  }
}
