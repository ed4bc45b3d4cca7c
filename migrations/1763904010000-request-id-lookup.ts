import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './support/concurrent-index.js';

const AUDIT = 'audit_events_request_id_idx';
const REQUESTS = 'client_requests_request_id_idx';

/** A request is found by the id that every error page and every log line names. */
export class RequestIdLookup1763904010000 implements MigrationInterface {
  name = 'RequestIdLookup1763904010000';
  /** Indexes on tables that have rows. */
  transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await createIndexConcurrently(queryRunner, {
      name: AUDIT,
      on: 'audit_events (request_id, id) WHERE request_id IS NOT NULL',
    });
    await createIndexConcurrently(queryRunner, {
      name: REQUESTS,
      on: 'client_requests (request_id, client_id)',
    });
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP INDEX ${REQUESTS}, ${AUDIT}`);
  }
}
