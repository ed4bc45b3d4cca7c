import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Receivers behind OAuth: where the token for an endpoint's requests comes from, and the sealed secret that gets it. */
export class ReceiverAuthentication1796410000000 implements MigrationInterface {
  name = 'ReceiverAuthentication1796410000000';
  transaction = false as const;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE webhook_endpoints
        ADD COLUMN IF NOT EXISTS authentication json,
        ADD COLUMN IF NOT EXISTS sealed_client_secret bytea
          CHECK ((sealed_client_secret IS NULL) = (authentication IS NULL));
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE webhook_endpoints DROP COLUMN IF EXISTS sealed_client_secret, DROP COLUMN IF EXISTS authentication
    `);
  }
}
