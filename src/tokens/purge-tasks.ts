/** Rows of one table, `t`, that may go. */
export interface PurgeTask {
  table: string;
  /** The column by whose index they are found, the oldest first. */
  by: string;
  /** Rows where it is before this may go; `$2` is the retention in days. */
  before: string;
  /** What must hold beside. */
  condition?: string;
  /** Where the column is another table's. */
  join?: string;
}

const RETENTION = 'now() - make_interval(days => $2)';

/** The successor pairs whose grace time is over. */
export const SEALED_SUCCESSORS: PurgeTask = {
  table: 'sealed_successors',
  by: 't.grace_ends_at',
  before: 'now()',
};

/**
 * What may go. A consumed code and a retired refresh token stay for as long as their grant, so that a replay is
 * noticed to the grant's last day; a grant stays for the retention time after its end, for whoever asks what became
 * of it, and takes its codes and tokens along.
 */
export const PURGE_TASKS: PurgeTask[] = [
  // For a day after their end, so that whoever asks why a partner gets 401 is told.
  { table: 'access_tokens', by: 't.expires_at', before: "now() - interval '1 day'" },
  { table: 'authorization_codes', by: 't.expires_at', before: 'now()', condition: 't.consumed_at IS NULL' },
  { table: 'sessions', by: 't.expires_at', before: 'now()' },
  { table: 'portal_links', by: 't.expires_at', before: 'now()' },
  { table: 'portal_sessions', by: 't.expires_at', before: 'now()' },
  { table: 'password_links', by: 't.expires_at', before: 'now()' },
  { table: 'rate_limit_periods', by: 't.ends_at', before: 'now()' },
  // Likewise: a secret that has expired is another answer than one that is wrong.
  {
    table: 'client_secrets',
    by: 't.expires_at',
    before: RETENTION,
  },
  { table: 'grants', by: 't.revoked_at', before: RETENTION },
  { table: 'grants', by: 't.expires_at', before: RETENTION },
  {
    table: 'grants',
    join: 'JOIN refresh_tokens r ON r.grant_id = t.id AND r.retired_at IS NULL',
    by: 'r.expires_at',
    before: RETENTION,
  },
  {
    table: 'event_idempotency_keys',
    by: 't.created_at',
    before: "now() - interval '24 hours'",
  },
  // With its deliveries and their attempts; not while one of them, accepted or sent again, is on its way.
  {
    table: 'events',
    by: 't.created_at',
    before: RETENTION,
    condition: "NOT EXISTS (SELECT 1 FROM deliveries WHERE event_id = t.id AND state = 'pending')",
  },
  { table: 'webhook_endpoints', by: 't.deleted_at', before: RETENTION },
  {
    table: 'webhook_endpoint_hours',
    by: 't.hour',
    before: RETENTION,
  },
  { table: 'webhook_recoveries', by: 't.created_at', before: RETENTION },
  {
    table: 'activity_hours',
    by: 't.hour',
    before: RETENTION,
  },
  { table: 'audit_events', by: 't.occurred_at', before: "now() - interval '365 days'" },
];
