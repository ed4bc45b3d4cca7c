import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Recovery codes replace the code of an authenticator app. Those of users who have only passkeys were another way in that nobody needs. */
export class RecoveryCodesOfApps1763903010000 implements MigrationInterface {
  name = 'RecoveryCodesOfApps1763903010000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      'DELETE FROM recovery_codes c WHERE NOT EXISTS (SELECT 1 FROM authenticator_apps a WHERE a.user_id = c.user_id)',
    );
  }

  /** The codes were known to their users alone. */
  async down(): Promise<void> {}
}
