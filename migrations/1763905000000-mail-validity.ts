import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A mail with a link says until when the link works: it is not sent after that. Null, as older builds leave it: sent at any time. */
export class MailValidity1763905000000 implements MigrationInterface {
  name = 'MailValidity1763905000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE mails ADD COLUMN useful_until timestamptz');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE mails DROP COLUMN useful_until');
  }
}
