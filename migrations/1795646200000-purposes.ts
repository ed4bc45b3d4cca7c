import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What clients want data for, in words for users, and when the words of a scope came to mean something else. */
export class Purposes1795646200000 implements MigrationInterface {
  name = 'Purposes1795646200000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE purposes (
        name text PRIMARY KEY CHECK (name ~ '^[a-z0-9_-]{1,64}$'),
        -- By language code; English is always there.
        words jsonb NOT NULL CHECK (jsonb_typeof(words -> 'en') = 'string')
      );

      ALTER TABLE clients ADD COLUMN purposes text[] NOT NULL DEFAULT '{}';

      -- Until all consents that hold the scope since before have an end, the change is not worked off.
      ALTER TABLE scopes ADD COLUMN meaning_changed_at timestamptz, ADD COLUMN meaning_worked_off_at timestamptz;
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE scopes DROP COLUMN meaning_changed_at, DROP COLUMN meaning_worked_off_at;
      ALTER TABLE clients DROP COLUMN purposes;
      DROP TABLE purposes;
    `);
  }
}
