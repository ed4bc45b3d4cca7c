import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A session that came from an identity provider keeps the provider's ID token, sealed: logging out there names it. */
export class SessionIdTokens1763902000000 implements MigrationInterface {
  name = 'SessionIdTokens1763902000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE sessions ADD COLUMN IF NOT EXISTS sealed_id_token bytea');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE sessions DROP COLUMN sealed_id_token');
  }
}
