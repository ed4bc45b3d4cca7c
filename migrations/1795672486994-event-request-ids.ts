import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently, dropIndexConcurrently } from './support/concurrent-index.js';

/** Events know the request that published them, so that the page that explains a request leads to the deliveries that it caused. */
export class EventRequestIds1795672486994 implements MigrationInterface {
  name = 'EventRequestIds1795672486994';
  transaction = false as const;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE events ADD COLUMN IF NOT EXISTS request_id text');
    await createIndexConcurrently(queryRunner, {
      name: 'events_request_id_idx',
      on: 'events (request_id) WHERE request_id IS NOT NULL',
    });
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await dropIndexConcurrently(queryRunner, 'events_request_id_idx');
    await queryRunner.query('ALTER TABLE events DROP COLUMN IF EXISTS request_id');
  }
}
