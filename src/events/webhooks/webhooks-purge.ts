import { isRolledUp } from '#events/disclosures/rolled-up.sql.js';
import { RETENTION, type PurgeTask } from '#platform/database/purge/purge-tasks.js';

export const WEBHOOKS_PURGE: PurgeTask[] = [
  { table: 'event_idempotency_keys', by: 'created_at', before: "now() - interval '24 hours'" },
  // With its deliveries and their attempts, unless one of them is still pending, once they are in the sums of what was read.
  {
    table: 'events',
    by: 'created_at',
    before: RETENTION,
    condition: `${isRolledUp('t.created_at')}
            AND NOT EXISTS (SELECT 1 FROM deliveries WHERE event_id = t.id AND state = 'pending')`,
  },
  // A thing that is silent for longer starts again at 1.
  {
    table: 'event_sequences',
    by: 'seen_on',
    before: `least(${RETENTION}, now() - interval '400 days')`,
  },
  // With the deliveries to it.
  {
    table: 'webhook_endpoints',
    by: 'deleted_at',
    before: RETENTION,
    condition: isRolledUp('t.deleted_at'),
  },
  { table: 'webhook_endpoint_hours', by: 'hour', before: RETENTION },
  { table: 'webhook_recoveries', by: 'created_at', before: RETENTION },
  { table: 'webhook_pauses', by: 'enabled_at', before: RETENTION },
];
