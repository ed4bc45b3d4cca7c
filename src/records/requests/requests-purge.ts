import type { PurgeTask } from '#platform/database/purge/purge-tasks.js';

/** Days that records are kept, at least: a day goes as a whole. */
const DAYS_KEPT = 7;
// One is enough; with two, a day without any instance is no matter.
const DAYS_AHEAD = 2;

export const REQUESTS_PURGE: PurgeTask[] = [
  {
    table: 'request_records',
    by: 'occurred_at',
    partitions: `turn_request_records(${DAYS_KEPT}, ${DAYS_AHEAD})`,
  },
];
