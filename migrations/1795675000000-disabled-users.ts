import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './support/concurrent-index.js';

/** The console lists the disabled users, who are few. */
export class DisabledUsers1795675000000 implements MigrationInterface {
  name = 'DisabledUsers1795675000000';
  transaction = false as const;

  async up(queryRunner: QueryRunner): Promise<void> {
    await createIndexConcurrently(queryRunner, {
      name: 'users_disabled_idx',
      on: 'users (id) WHERE NOT enabled',
    });
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX users_disabled_idx');
  }
}
