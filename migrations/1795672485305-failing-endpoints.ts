import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently, dropIndexConcurrently } from './support/concurrent-index.js';

/** The navigation of console and portal shows how many endpoints are failing: counted on each page, so from an index of these few. */
export class FailingEndpoints1795672485305 implements MigrationInterface {
  name = 'FailingEndpoints1795672485305';
  transaction = false as const;

  async up(queryRunner: QueryRunner): Promise<void> {
    await createIndexConcurrently(queryRunner, {
      name: 'webhook_endpoints_failing_idx',
      on: 'webhook_endpoints (client_id) WHERE enabled AND failing_since IS NOT NULL AND deleted_at IS NULL',
    });
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await dropIndexConcurrently(queryRunner, 'webhook_endpoints_failing_idx');
  }
}
