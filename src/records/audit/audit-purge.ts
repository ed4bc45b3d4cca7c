import type { PurgeTask } from '#platform/database/purge/purge-tasks.js';

// One would be enough; with two, the service may be down for a month.
const MONTHS_AHEAD = 2;

export const AUDIT_PURGE: PurgeTask[] = [
  // The function drops a month when its last entry is a year old, because the service's role must not delete from the audit log.
  { table: 'audit_events', by: 'id', partitions: `turn_audit_events(${MONTHS_AHEAD})` },
];
