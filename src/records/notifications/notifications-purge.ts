import { RETENTION, type PurgeTask } from '#platform/database/purge/purge-tasks.js';

const NOTHING_TO_DO = "t.resolved_at IS NULL AND t.category <> 'ACTIONABLE'";

export const NOTIFICATIONS_PURGE: PurgeTask[] = [
  // Notifications that need action: after they were resolved. Others: after they were read, or after a year.
  { table: 'notifications', by: 'resolved_at', before: RETENTION },
  { table: 'notifications', by: 'read_at', before: RETENTION, condition: NOTHING_TO_DO },
  {
    table: 'notifications',
    by: 'event_time',
    before: "now() - interval '365 days'",
    condition: `t.read_at IS NULL AND ${NOTHING_TO_DO}`,
  },
];
