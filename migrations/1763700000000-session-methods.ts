import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A session stores how it was started: with the password, a passkey, or through an identity provider. */
export class SessionMethods1763700000000 implements MigrationInterface {
  name = 'SessionMethods1763700000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE sessions
        ADD COLUMN method text NOT NULL DEFAULT 'password' CHECK (method IN ('password', 'passkey', 'provider')),
        ADD COLUMN provider text,
        ADD COLUMN provider_subject text,
        ADD COLUMN provider_sid text,
        ADD CONSTRAINT sessions_provider_check
          CHECK ((method = 'provider') = (provider IS NOT NULL AND provider_subject IS NOT NULL));
    `);
    await queryRunner.query(`
      CREATE INDEX sessions_provider_idx ON sessions (provider, provider_subject) WHERE provider IS NOT NULL;
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      'ALTER TABLE sessions DROP COLUMN method, DROP COLUMN provider, DROP COLUMN provider_subject, DROP COLUMN provider_sid',
    );
  }
}
