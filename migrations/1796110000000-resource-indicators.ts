import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './support/concurrent-index.js';

/**
 * The resources that a client stands for, that a code or a grant was authorized for, and that its current access token is for (RFC 8707);
 * and when and how the user of a grant logged in, if its client asked for that (RFC 9470). Null: as before.
 */
export class ResourceIndicators1796110000000 implements MigrationInterface {
  name = 'ResourceIndicators1796110000000';
  transaction = false as const;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE clients ADD COLUMN IF NOT EXISTS resource_indicators text[] NOT NULL DEFAULT '{}';
    `);
    await queryRunner.query(`
      ALTER TABLE authorization_codes
        ADD COLUMN IF NOT EXISTS resources text[], ADD COLUMN IF NOT EXISTS auth_time timestamptz, ADD COLUMN IF NOT EXISTS acr text;
    `);
    await queryRunner.query(`
      ALTER TABLE grants
        ADD COLUMN IF NOT EXISTS resources text[], ADD COLUMN IF NOT EXISTS given_resources text[],
        ADD COLUMN IF NOT EXISTS auth_time timestamptz, ADD COLUMN IF NOT EXISTS acr text;
    `);
    await createIndexConcurrently(queryRunner, {
      name: 'clients_resource_indicators_idx',
      on: "clients (id) WHERE resource_indicators <> '{}'",
    });
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP INDEX IF EXISTS clients_resource_indicators_idx;
      ALTER TABLE clients DROP COLUMN IF EXISTS resource_indicators;
      ALTER TABLE authorization_codes
        DROP COLUMN IF EXISTS resources, DROP COLUMN IF EXISTS auth_time, DROP COLUMN IF EXISTS acr;
      ALTER TABLE grants
        DROP COLUMN IF EXISTS resources, DROP COLUMN IF EXISTS given_resources, DROP COLUMN IF EXISTS auth_time,
        DROP COLUMN IF EXISTS acr;
    `);
  }
}
