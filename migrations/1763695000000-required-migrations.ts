import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Which migrations a build must know to work on this schema: a migration that takes away what older builds need adds itself
 * (`support/required-migration.ts`). The start and the readiness of every build ask it.
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
