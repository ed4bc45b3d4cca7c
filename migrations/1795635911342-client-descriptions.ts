import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A text about a client for operators. */
export class ClientDescriptions1795635911342 implements MigrationInterface {
  name = 'ClientDescriptions1795635911342';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE clients
        ADD COLUMN description text NOT NULL DEFAULT '' CHECK (length(description) <= 500)
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE clients DROP COLUMN description');
  }
}
