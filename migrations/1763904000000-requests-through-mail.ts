import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A mailed link keeps what was asked for before the mail, such as an authorization request, and a link to set a password what it is
 * for (contract §18). Links of older builds have neither.
 */
export class RequestsThroughMail1763904000000 implements MigrationInterface {
  name = 'RequestsThroughMail1763904000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE email_links ADD COLUMN return_to bytea;
      ALTER TABLE password_links ADD COLUMN return_to bytea, ADD COLUMN purpose text;
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE password_links DROP COLUMN purpose, DROP COLUMN return_to;
      ALTER TABLE email_links DROP COLUMN return_to;
    `);
  }
}
