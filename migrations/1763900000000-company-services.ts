import type { MigrationInterface, QueryRunner } from 'typeorm';
import { backfillInBatches } from './support/backfill.js';

/**
 * A client with operator scopes belongs to an operator, whose role limits it, or is marked as a service of the company. The company's
 * data services that are there are marked. A client with the scopes of the admin API whose owner is no operator is disabled instead:
 * it may be what a former operator left behind. An admin marks and enables it, if it should work.
 *
 * Requests that wait for a second admin say what exactly was asked for, and which admin stands behind a client that asked.
 */
export class CompanyServices1763900000000 implements MigrationInterface {
  name = 'CompanyServices1763900000000';
  /** Clients are read and changed meanwhile; every step may run again. */
  transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      'ALTER TABLE clients ADD COLUMN IF NOT EXISTS company_service boolean NOT NULL DEFAULT false',
    );
    await backfillInBatches(queryRunner, {
      table: 'clients',
      key: 'id',
      set: 'company_service = true',
      where: `NOT company_service AND ${OF_NO_OPERATOR} AND NOT ${IN_THE_ADMIN_API}`,
    });
    await backfillInBatches(queryRunner, {
      table: 'clients',
      key: 'id',
      set: `enabled = false,
            token_epoch = greatest(token_epoch + 1, extract(epoch FROM now() - timestamptz '2020-01-01Z')::int)`,
      where: `enabled AND NOT company_service AND ${OF_NO_OPERATOR} AND ${IN_THE_ADMIN_API}`,
    });
    await queryRunner.query(`
      ALTER TABLE approvals
        ADD COLUMN IF NOT EXISTS details jsonb,
        ADD COLUMN IF NOT EXISTS seconded_by text,
        ADD COLUMN IF NOT EXISTS seconded_at timestamptz,
        DROP CONSTRAINT IF EXISTS approvals_action_check;
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DELETE FROM approvals WHERE action NOT IN ('user.erase', 'user.make_admin', 'client.delete');
      ALTER TABLE approvals
        DROP COLUMN details, DROP COLUMN seconded_by, DROP COLUMN seconded_at,
        ADD CONSTRAINT approvals_action_check CHECK (action IN ('user.erase', 'user.make_admin', 'client.delete'));
      ALTER TABLE clients DROP COLUMN company_service;
    `);
  }
}

const OF_NO_OPERATOR = `
  scopes && ARRAY(SELECT name FROM scopes WHERE audience = 'operator')
  AND NOT EXISTS (SELECT FROM users o WHERE o.id = owner_id AND o.operator_role IS NOT NULL)`;

const IN_THE_ADMIN_API = `(scopes && ARRAY['admin:read', 'admin:write'])`;
