import type { MigrationInterface, QueryRunner } from 'typeorm';
import { backfillInBatches } from './support/backfill.js';
import { createIndexConcurrently } from './support/concurrent-index.js';

/**
 * Operators have a role: viewer, support or admin. Those who are operators now are admins, and so are those that an older build
 * makes meanwhile, because it does not know the column. Requests that wait for a second admin are approvals.
 */
export class OperatorRoles1763740000000 implements MigrationInterface {
  name = 'OperatorRoles1763740000000';
  /** Users are read and changed meanwhile; every step may run again. */
  transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE users ADD COLUMN IF NOT EXISTS operator_role text');
    await queryRunner.query(`
      CREATE OR REPLACE FUNCTION complete_operator_role() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          NEW.operator_role := CASE WHEN NEW.role = 'operator' THEN coalesce(NEW.operator_role, 'admin') END;
          RETURN NEW;
        END
      $$;
      DROP TRIGGER IF EXISTS users_complete_operator_role ON users;
      CREATE TRIGGER users_complete_operator_role BEFORE INSERT OR UPDATE OF role, operator_role ON users
        FOR EACH ROW EXECUTE FUNCTION complete_operator_role();
    `);
    await backfillInBatches(queryRunner, {
      table: 'users',
      key: 'id',
      set: "operator_role = 'admin'",
      where: "role = 'operator' AND operator_role IS NULL",
    });
    await queryRunner.query(`
      ALTER TABLE users
        DROP CONSTRAINT IF EXISTS users_operator_role_check,
        ADD CONSTRAINT users_operator_role_check CHECK (
          CASE WHEN role = 'operator' THEN operator_role IS NOT NULL AND operator_role IN ('viewer', 'support', 'admin')
               ELSE operator_role IS NULL END) NOT VALID;
    `);
    await queryRunner.query('ALTER TABLE users VALIDATE CONSTRAINT users_operator_role_check');
    await createIndexConcurrently(queryRunner, {
      name: 'users_operator_role_idx',
      on: 'users (operator_role, id) WHERE operator_role IS NOT NULL',
    });
    await queryRunner.query(`
      CREATE TABLE IF NOT EXISTS approvals (
        id text PRIMARY KEY CHECK (id ~ '^appr[0-9A-HJKMNP-TV-Z]{26}$'),
        action text NOT NULL CHECK (action IN ('user.erase', 'user.make_admin', 'client.delete')),
        subject_id text NOT NULL,
        state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'approved', 'rejected', 'expired')),
        requested_by_type text NOT NULL CHECK (requested_by_type IN ('user', 'client')),
        requested_by_id text NOT NULL,
        -- The user, or the owner of the client: the same person cannot approve it, in whatever way.
        requested_by_person text NOT NULL,
        requested_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz NOT NULL,
        decided_by_type text CHECK (decided_by_type IN ('user', 'client')),
        decided_by_id text,
        decided_at timestamptz,
        CHECK ((state IN ('approved', 'rejected')) =
               (decided_by_type IS NOT NULL AND decided_by_id IS NOT NULL AND decided_at IS NOT NULL))
      );
      -- Asking again for what is pending finds the same row.
      CREATE UNIQUE INDEX IF NOT EXISTS approvals_pending_key ON approvals (action, subject_id) WHERE state = 'pending';
      CREATE INDEX IF NOT EXISTS approvals_expires_at_idx ON approvals (expires_at);
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TABLE approvals;
      DROP TRIGGER users_complete_operator_role ON users;
      DROP FUNCTION complete_operator_role;
      ALTER TABLE users DROP COLUMN operator_role;
    `);
  }
}
