import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently, type ConcurrentIndex } from './support/concurrent-index.js';

const PENDING = "resolved_at IS NULL AND category <> 'ACTIONABLE'";
const INDEXES: ConcurrentIndex[] = [
  { name: 'notifications_resolved_at_idx', on: 'notifications (resolved_at) WHERE resolved_at IS NOT NULL' },
  {
    name: 'notifications_read_at_idx',
    on: `notifications (read_at) WHERE read_at IS NOT NULL AND ${PENDING}`,
  },
  {
    name: 'notifications_unread_idx',
    on: `notifications (event_time) WHERE read_at IS NULL AND ${PENDING}`,
  },
];

/** Notifications are removed by age (src/database/purge/purge-tasks.ts): these are the indexes for the purge. */
export class NotificationRetention1763695200000 implements MigrationInterface {
  name = 'NotificationRetention1763695200000';
  transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const index of INDEXES) await createIndexConcurrently(queryRunner, index);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP INDEX ${INDEXES.map(({ name }) => name).join(', ')}`);
  }
}
