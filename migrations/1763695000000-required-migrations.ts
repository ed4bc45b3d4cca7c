import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The migrations that a build must know to work with this schema. A migration that removes what older builds need adds itself
 * here (`support/required-migration.ts`). Every build checks this table at its start and in its readiness.
 */
export class RequiredMigrations1763695000000 implements MigrationInterface {
  name = 'RequiredMigrations1763695000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE required_migrations (
        name text PRIMARY KEY,
        required_at timestamptz NOT NULL DEFAULT now()
      );
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE required_migrations');
  }
}
