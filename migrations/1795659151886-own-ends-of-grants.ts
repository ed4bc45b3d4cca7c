import type { MigrationInterface, QueryRunner } from 'typeorm';

/** When a grant ends apart from its consent, so that a setting that changes later does not reach it when the consent changes. */
export class OwnEndsOfGrants1795659151886 implements MigrationInterface {
  name = 'OwnEndsOfGrants1795659151886';

  async up(queryRunner: QueryRunner): Promise<void> {
    // Null where an earlier build wrote the grant.
    await queryRunner.query('ALTER TABLE grants ADD COLUMN own_end timestamptz');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE grants DROP COLUMN own_end');
  }
}
