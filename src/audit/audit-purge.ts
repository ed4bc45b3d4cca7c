import type { PurgeTask } from '../database/purge/purge-tasks.js';

export const AUDIT_PURGE: PurgeTask[] = [
  // After 365 days, a period fixed in the function: the service itself must not delete from the audit log.
  { table: 'audit_events', by: 'occurred_at', function: 'purge_audit_events' },
];
