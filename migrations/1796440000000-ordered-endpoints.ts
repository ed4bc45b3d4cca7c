import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './support/concurrent-index.js';

/** Endpoints that get the events of one user one after the other (docs/decisions/0044-one-after-the-other.md). */
export class OrderedEndpoints1796440000000 implements MigrationInterface {
  name = 'OrderedEndpoints1796440000000';
  transaction = false as const;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE webhook_endpoints
        ADD COLUMN IF NOT EXISTS ordered boolean NOT NULL DEFAULT false,
        -- Whether its waiting deliveries stand as "ordered" says; until then none is claimed.
        ADD COLUMN IF NOT EXISTS lined_up boolean NOT NULL DEFAULT true;
    `);
    await queryRunner.query(`
      ALTER TABLE deliveries
        -- The user whose order it keeps, as a number that nobody gets back to the user; null outside of any order.
        ADD COLUMN IF NOT EXISTS line bigint,
        -- The transaction of its event: the place in the line, as in the feed.
        ADD COLUMN IF NOT EXISTS place bigint,
        -- Put off, because an earlier one of its line was pending.
        ADD COLUMN IF NOT EXISTS behind boolean NOT NULL DEFAULT false;
    `);
    await queryRunner.query(`
      -- The header webhook-sequence-gap of the request, where it had one.
      ALTER TABLE delivery_attempts ADD COLUMN IF NOT EXISTS sequence_gap integer;
    `);
    await createIndexConcurrently(queryRunner, {
      name: 'deliveries_line_idx',
      on: 'deliveries (endpoint_id, line, state, place, event_id) WHERE line IS NOT NULL',
    });
    await queryRunner.query(`
      -- The next of a line is due when the one before it has ended, however it ended.
      CREATE OR REPLACE FUNCTION release_next_delivery() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          UPDATE deliveries SET behind = false, next_attempt_at = now(), due_at = now()
           WHERE behind AND id = (SELECT d.id FROM deliveries d
                                   WHERE d.endpoint_id = OLD.endpoint_id AND d.line = OLD.line AND d.state = 'pending'
                                   ORDER BY d.place, d.event_id LIMIT 1);
          RETURN NULL;
        END
      $$;
      CREATE OR REPLACE TRIGGER deliveries_release_next AFTER UPDATE OF state ON deliveries FOR EACH ROW
        WHEN (OLD.line IS NOT NULL AND NEW.line IS NOT NULL AND OLD.state = 'pending' AND NEW.state <> 'pending')
        EXECUTE FUNCTION release_next_delivery();
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TRIGGER IF EXISTS deliveries_release_next ON deliveries;
      DROP FUNCTION IF EXISTS release_next_delivery;
      DROP INDEX IF EXISTS deliveries_line_idx;
      ALTER TABLE deliveries DROP COLUMN IF EXISTS line, DROP COLUMN IF EXISTS place, DROP COLUMN IF EXISTS behind;
    `);
    await queryRunner.query('ALTER TABLE delivery_attempts DROP COLUMN IF EXISTS sequence_gap');
    await queryRunner.query(
      'ALTER TABLE webhook_endpoints DROP COLUMN IF EXISTS ordered, DROP COLUMN IF EXISTS lined_up',
    );
  }
}
