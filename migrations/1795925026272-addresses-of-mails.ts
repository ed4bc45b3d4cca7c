import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently, dropIndexConcurrently } from './support/concurrent-index.js';

/**
 * Mails to an address without an account are found whatever language the database has: by Turkish rules, `I` is no capital `i`, so
 * that `MAIL.EXAMPLE` was another domain.
 */
export class AddressesOfMails1795925026272 implements MigrationInterface {
  name = 'AddressesOfMails1795925026272';
  transaction = false as const;

  async up(queryRunner: QueryRunner): Promise<void> {
    await createIndexConcurrently(queryRunner, {
      name: 'mails_any_case_idx',
      on: 'mails (lower(address COLLATE "C")) WHERE user_id IS NULL',
    });
    await dropIndexConcurrently(queryRunner, 'mails_address_idx');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP INDEX IF EXISTS mails_any_case_idx;
      CREATE INDEX IF NOT EXISTS mails_address_idx ON mails (lower(address)) WHERE user_id IS NULL;
    `);
  }
}
