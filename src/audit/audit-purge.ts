import type { PurgeTask } from '../database/purge/purge-tasks.js';

// One is enough; with two, a month without any instance is no matter.
const MONTHS_AHEAD = 2;

export const AUDIT_PURGE: PurgeTask[] = [
  // A month goes when its last entry is a year old, which the function knows: the service itself must not delete from the audit log.
  { table: 'audit_events', by: 'id', partitions: `turn_audit_events(${MONTHS_AHEAD})` },
];
