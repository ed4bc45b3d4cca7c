import type { PurgeTask } from '../database/purge/purge-tasks.js';

export const REQUESTS_PURGE: PurgeTask[] = [
  { table: 'request_records', by: 'occurred_at', before: "now() - interval '7 days'" },
];
