import type { MigrationInterface, QueryRunner } from 'typeorm';
import {
  createIndexConcurrently,
  dropIndexConcurrently,
  type ConcurrentIndex,
} from './support/concurrent-index.js';

// In an order of their own, which no other index has: see `orderOf` of the lists.
const INDEXES: ConcurrentIndex[] = [
  { name: 'deliveries_state_idx', on: 'deliveries (state, id COLLATE "C")' },
  { name: 'deliveries_client_state_idx', on: 'deliveries (client_id, state, id COLLATE "C")' },
  { name: 'deliveries_endpoint_state_idx', on: 'deliveries (endpoint_id, state, id COLLATE "C")' },
];
// What they replace: indexes by state alone that knew two of the states, and did not tell these apart.
const FORMER: ConcurrentIndex[] = [
  { name: 'deliveries_waiting_idx', on: "deliveries (id) WHERE state = 'pending'" },
  { name: 'deliveries_all_unsuccessful_idx', on: "deliveries (id) WHERE state IN ('failed', 'cancelled')" },
];

const STATISTICS = 'deliveries_states';

/** A page of deliveries in one state, of all, of a client or of an endpoint, costs what it shows, however many there are of others. */
export class DeliveryListIndexes1763905010000 implements MigrationInterface {
  name = 'DeliveryListIndexes1763905010000';
  transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const index of INDEXES) await createIndexConcurrently(queryRunner, index);
    for (const { name } of FORMER) await dropIndexConcurrently(queryRunner, name);
    // Whether an endpoint has failures says nothing about another: by each column alone, PostgreSQL expects the usual share of each.
    await queryRunner.query(
      `CREATE STATISTICS IF NOT EXISTS ${STATISTICS} (mcv) ON client_id, endpoint_id, state FROM deliveries`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP STATISTICS ${STATISTICS}`);
    for (const { name, on } of FORMER) await queryRunner.query(`CREATE INDEX ${name} ON ${on}`);
    await queryRunner.query(`DROP INDEX ${INDEXES.map(({ name }) => name).join(', ')}`);
  }
}
