import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently, dropIndexConcurrently } from './support/concurrent-index.js';

/** The ends that were announced, in the order in which consents end: those that were not are found by the two indexes alone. */
export class AnnouncedEnds1795915989421 implements MigrationInterface {
  name = 'AnnouncedEnds1795915989421';
  transaction = false as const;

  async up(queryRunner: QueryRunner): Promise<void> {
    await createIndexConcurrently(queryRunner, {
      name: 'consent_notices_ends_idx',
      on: 'consent_notices (expires_at, client_id, user_id)',
    });
    // The purge finds its rows by the new one, too.
    await dropIndexConcurrently(queryRunner, 'consent_notices_expires_at_idx');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP INDEX IF EXISTS consent_notices_ends_idx;
      CREATE INDEX IF NOT EXISTS consent_notices_expires_at_idx ON consent_notices (expires_at);
    `);
  }
}
