import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A password link stores the form that created it, so that submitting a form twice creates only one link. */
export class PasswordLinkForms1763693000000 implements MigrationInterface {
  name = 'PasswordLinkForms1763693000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE password_links
        ADD COLUMN form_id text CONSTRAINT password_links_form_id_key UNIQUE;
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE password_links DROP COLUMN form_id');
  }
}
