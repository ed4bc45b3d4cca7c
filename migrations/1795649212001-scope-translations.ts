import type { MigrationInterface, QueryRunner } from 'typeorm';
import { SCOPE_TRANSLATIONS } from './scopes.js';

/** The words of scopes in the languages of drivers. */
export class ScopeTranslations1795649212001 implements MigrationInterface {
  name = 'ScopeTranslations1795649212001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query("ALTER TABLE scopes ADD COLUMN translations jsonb NOT NULL DEFAULT '{}'");
    for (const [name, translations] of Object.entries(SCOPE_TRANSLATIONS)) {
      await queryRunner.query('UPDATE scopes SET translations = $2 WHERE name = $1', [
        name,
        JSON.stringify(translations),
      ]);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE scopes DROP COLUMN translations');
  }
}
