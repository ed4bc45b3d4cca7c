import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Tokens that are bound to a key of the client (RFC 9449), clients that must have such, and those that follow a security profile. */
export class SecurityProfiles1796010000000 implements MigrationInterface {
  name = 'SecurityProfiles1796010000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE clients
        ADD COLUMN dpop_bound_access_tokens boolean NOT NULL DEFAULT false,
        ADD COLUMN security_profile text CHECK (security_profile IN ('fapi_2'));

      -- The thumbprint of the key that the code, or the current pair of the grant, is bound to; null for none.
      ALTER TABLE authorization_codes ADD COLUMN dpop_jkt text;
      ALTER TABLE grants ADD COLUMN dpop_jkt text;
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE grants DROP COLUMN dpop_jkt;
      ALTER TABLE authorization_codes DROP COLUMN dpop_jkt;
      ALTER TABLE clients DROP COLUMN dpop_bound_access_tokens, DROP COLUMN security_profile;
    `);
  }
}
