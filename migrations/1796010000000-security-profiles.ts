import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Tokens that are bound to a key of the client (RFC 9449), clients that must have such, and those that follow a security profile. */
export class SecurityProfiles1796010000000 implements MigrationInterface {
  name = 'SecurityProfiles1796010000000';

  transaction = false as const;

  // A table at a time: a refresh reads grants and then clients.
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE clients
        ADD COLUMN IF NOT EXISTS dpop_bound_access_tokens boolean NOT NULL DEFAULT false,
        ADD COLUMN IF NOT EXISTS security_profile text CHECK (security_profile IN ('fapi_2'));
    `);
    // The thumbprint of the key that the code, or the current pair of the grant, is bound to; null for none.
    await queryRunner.query('ALTER TABLE authorization_codes ADD COLUMN IF NOT EXISTS dpop_jkt text');
    await queryRunner.query('ALTER TABLE grants ADD COLUMN IF NOT EXISTS dpop_jkt text');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE grants DROP COLUMN IF EXISTS dpop_jkt');
    await queryRunner.query('ALTER TABLE authorization_codes DROP COLUMN IF EXISTS dpop_jkt');
    await queryRunner.query(`
      ALTER TABLE clients DROP COLUMN IF EXISTS dpop_bound_access_tokens, DROP COLUMN IF EXISTS security_profile;
    `);
  }
}
