import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently, type ConcurrentIndex } from './support/concurrent-index.js';

const INDEXES: ConcurrentIndex[] = [
  { name: 'users_search_idx', on: 'users USING gin (email gin_trgm_ops, name gin_trgm_ops)' },
  { name: 'clients_search_idx', on: 'clients USING gin (name gin_trgm_ops)' },
  {
    name: 'webhook_endpoints_disabled_idx',
    on: 'webhook_endpoints (id) WHERE NOT enabled AND deleted_at IS NULL',
  },
  { name: 'deliveries_waiting_idx', on: "deliveries (id) WHERE state = 'pending'" },
  { name: 'deliveries_all_unsuccessful_idx', on: "deliveries (id) WHERE state IN ('failed', 'cancelled')" },
  { name: 'notifications_client_idx', on: 'notifications (client_id, id) WHERE client_id IS NOT NULL' },
];

/** The indexes for the searches and filters of the console. */
export class SearchIndexes1763660000001 implements MigrationInterface {
  name = 'SearchIndexes1763660000001';
  transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const index of INDEXES) await createIndexConcurrently(queryRunner, index);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP INDEX ${INDEXES.map(({ name }) => name).join(', ')}`);
  }
}
