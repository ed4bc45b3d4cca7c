import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './support/concurrent-index.js';

/** The search of the console looks for part of an endpoint's URL each time, and read all endpoints for it. A URL rarely changes. */
export class EndpointSearch1795914809787 implements MigrationInterface {
  name = 'EndpointSearch1795914809787';
  transaction = false as const;

  async up(queryRunner: QueryRunner): Promise<void> {
    await createIndexConcurrently(queryRunner, {
      name: 'webhook_endpoints_search_idx',
      on: 'webhook_endpoints USING gin (url gin_trgm_ops) WHERE deleted_at IS NULL',
    });
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX IF EXISTS webhook_endpoints_search_idx');
  }
}
