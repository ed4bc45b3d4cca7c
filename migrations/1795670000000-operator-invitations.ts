import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './support/concurrent-index.js';

/** Operators are invited as members of organisations are: an invitation without an organisation is one to become an operator. */
export class OperatorInvitations1795670000000 implements MigrationInterface {
  name = 'OperatorInvitations1795670000000';
  transaction = false as const;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE organisation_invitations
        ALTER COLUMN organisation_id DROP NOT NULL,
        ADD COLUMN IF NOT EXISTS invited_by text,
        DROP CONSTRAINT IF EXISTS organisation_invitations_role_check
    `);
    await queryRunner.query(`
      ALTER TABLE organisation_invitations
        DROP CONSTRAINT IF EXISTS organisation_invitations_invited_by_fkey,
        ADD CONSTRAINT organisation_invitations_invited_by_fkey
          FOREIGN KEY (invited_by) REFERENCES users (id) ON DELETE CASCADE NOT VALID,
        DROP CONSTRAINT IF EXISTS organisation_invitations_kind_check,
        ADD CONSTRAINT organisation_invitations_kind_check CHECK (
          CASE WHEN organisation_id IS NULL
            THEN invited_by IS NOT NULL AND role IN ('viewer', 'support', 'admin')
            ELSE invited_by IS NULL AND role IN ('viewer', 'developer', 'admin')
          END
        ) NOT VALID
    `);
    await queryRunner.query(
      'ALTER TABLE organisation_invitations VALIDATE CONSTRAINT organisation_invitations_invited_by_fkey',
    );
    await queryRunner.query(
      'ALTER TABLE organisation_invitations VALIDATE CONSTRAINT organisation_invitations_kind_check',
    );
    await createIndexConcurrently(queryRunner, {
      name: 'organisation_invitations_operator_email_key',
      on: 'organisation_invitations (email_key) WHERE organisation_id IS NULL',
      unique: true,
    });
    await createIndexConcurrently(queryRunner, {
      name: 'organisation_invitations_invited_by_idx',
      on: 'organisation_invitations (invited_by) WHERE invited_by IS NOT NULL',
    });
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP INDEX organisation_invitations_operator_email_key;
      DELETE FROM organisation_invitations WHERE organisation_id IS NULL;
      ALTER TABLE organisation_invitations
        DROP CONSTRAINT organisation_invitations_kind_check,
        DROP COLUMN invited_by,
        ALTER COLUMN organisation_id SET NOT NULL,
        ADD CONSTRAINT organisation_invitations_role_check CHECK (role IN ('viewer', 'developer', 'admin'))
    `);
  }
}
