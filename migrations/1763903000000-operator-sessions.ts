import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * An operator's session ends when it is not used, so its `expires_at` moves with its use, and `ends_at` is where that stops. Null for a
 * session that ends at `expires_at`, whatever its use: of a user who is no operator, or begun by an earlier release.
 */
export class OperatorSessions1763903000000 implements MigrationInterface {
  name = 'OperatorSessions1763903000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE sessions ADD COLUMN ends_at timestamptz');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE sessions DROP COLUMN ends_at');
  }
}
