import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './support/concurrent-index.js';

/** The function that makes the next deliveries of a line due; `count`: how many of them. */
const releaseNext = (count: string): string => `
      CREATE OR REPLACE FUNCTION release_next_delivery() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          UPDATE deliveries SET behind = false, next_attempt_at = now(), due_at = now()
           WHERE behind AND id IN (SELECT d.id FROM deliveries d
                                    WHERE d.endpoint_id = OLD.endpoint_id AND d.line = OLD.line AND d.state = 'pending'
                                    ORDER BY d.place, d.event_id LIMIT ${count});
          RETURN NULL;
        END
      $$;`;

/** Endpoints that get several events in one request (docs/decisions/0045-batches-in-the-claim.md). */
export class Batches1796450000000 implements MigrationInterface {
  name = 'Batches1796450000000';
  transaction = false as const;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      -- How many at most, and how long the first one waits for more, in milliseconds; null: each by itself.
      ALTER TABLE webhook_endpoints ADD COLUMN IF NOT EXISTS batch json
        CHECK ((batch->>'max')::int BETWEEN 1 AND 100 AND (batch->>'wait_ms')::int BETWEEN 0 AND 5000);
    `);
    await queryRunner.query(`
      -- The webhook-id of the request, where it held a batch.
      ALTER TABLE delivery_attempts ADD COLUMN IF NOT EXISTS batch_id text;
    `);
    await createIndexConcurrently(queryRunner, {
      name: 'delivery_attempts_batch_idx',
      on: 'delivery_attempts (batch_id) WHERE batch_id IS NOT NULL',
    });
    await queryRunner.query(
      // As many as fit into a batch.
      releaseNext(
        "coalesce((SELECT (e.batch->>'max')::int FROM webhook_endpoints e WHERE e.id = OLD.endpoint_id), 1)",
      ),
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(releaseNext('1'));
    await queryRunner.query('DROP INDEX IF EXISTS delivery_attempts_batch_idx');
    await queryRunner.query('ALTER TABLE delivery_attempts DROP COLUMN IF EXISTS batch_id');
    await queryRunner.query('ALTER TABLE webhook_endpoints DROP COLUMN IF EXISTS batch');
  }
}
