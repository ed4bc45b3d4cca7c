import type { MigrationInterface, QueryRunner } from 'typeorm';
import { backfillInBatches } from './support/backfill.js';
import { createIndexConcurrently, dropIndexConcurrently } from './support/concurrent-index.js';

/**
 * The time that a delivery was put off to stands in a column of its own. No index has `next_attempt_at` any more, which a lease changes: so a
 * claim changes no index, and finds room beside the row.
 */
export class DeliveriesByDueTime1796430000000 implements MigrationInterface {
  name = 'DeliveriesByDueTime1796430000000';
  transaction = false as const;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE deliveries ADD COLUMN IF NOT EXISTS due_at timestamptz');
    await queryRunner.query('ALTER TABLE deliveries SET (fillfactor = 50)');
    // The release before finds what is pending by it, too.
    await createIndexConcurrently(queryRunner, {
      name: 'deliveries_queue_idx',
      on: "deliveries (endpoint_id, due_at, id) WHERE state = 'pending'",
    });
    await backfillInBatches(queryRunner, {
      table: 'deliveries',
      key: 'id',
      set: 'due_at = next_attempt_at',
      where: "state = 'pending' AND due_at IS NULL AND next_attempt_at > now()",
    });
    await dropIndexConcurrently(queryRunner, 'deliveries_pending_idx');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      "CREATE INDEX IF NOT EXISTS deliveries_pending_idx ON deliveries (endpoint_id, next_attempt_at) WHERE state = 'pending'",
    );
    await queryRunner.query('DROP INDEX IF EXISTS deliveries_queue_idx');
    await queryRunner.query('ALTER TABLE deliveries RESET (fillfactor)');
    await queryRunner.query('ALTER TABLE deliveries DROP COLUMN IF EXISTS due_at');
  }
}
