import type { MigrationInterface, QueryRunner } from 'typeorm';
import { backfillInBatches } from './support/backfill.js';
import { createIndexConcurrently } from './support/concurrent-index.js';

/** Tests say which client they are for, as other events for one client do, so that those of a client are found among all events. */
export class TestsOfClients1795910428627 implements MigrationInterface {
  name = 'TestsOfClients1795910428627';
  transaction = false as const;

  async up(queryRunner: QueryRunner): Promise<void> {
    // First, because the backfill finds the tests by it.
    await createIndexConcurrently(queryRunner, {
      name: 'events_tests_idx',
      on: 'events (client_id, id) WHERE test',
    });
    await backfillInBatches(queryRunner, {
      table: 'events',
      key: 'id',
      set: 'client_id = (SELECT d.client_id FROM deliveries d WHERE d.event_id = events.id LIMIT 1)',
      where: 'test AND client_id IS NULL AND EXISTS (SELECT FROM deliveries d WHERE d.event_id = events.id)',
    });
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX IF EXISTS events_tests_idx');
  }
}
