/** Rows of one table (`t`) that can be purged. */
export interface PurgeTask {
  table: string;
  /** The indexed column by which the rows are found, oldest first. */
  by: string;
  /** Rows with an earlier value can be purged; `$2` is the retention in days. */
  before: string;
  /** An additional condition. */
  condition?: string;
  /** A database function that removes the rows instead, given a start time and a maximum number (returns `count` and `last`). */
  function?: string;
}

const RETENTION = 'now() - make_interval(days => $2)';
const NOTHING_TO_DO = "t.resolved_at IS NULL AND t.category <> 'ACTIONABLE'";

/**
 * What is purged: conditions in SQL, of which `PurgeRepository` makes its statements. In a file of their own, because every
 * module that stores something that expires adds a line. A consumed code is kept as long as its grant, so that a replay is
 * noticed until the grant's last day. A grant is kept for the retention time after its end, so that operators can see what
 * became of it, and is purged with its codes.
 */
export const PURGE_TASKS: PurgeTask[] = [
  { table: 'revoked_access_tokens', by: 't.expires_at', before: 'now()' },
  { table: 'authorization_codes', by: 't.expires_at', before: 'now()', condition: 't.consumed_at IS NULL' },
  { table: 'sessions', by: 't.expires_at', before: 'now()' },
  { table: 'portal_links', by: 't.expires_at', before: 'now()' },
  { table: 'portal_sessions', by: 't.expires_at', before: 'now()' },
  { table: 'password_links', by: 't.expires_at', before: 'now()' },
  { table: 'approvals', by: 't.expires_at', before: RETENTION },
  { table: 'webauthn_challenges', by: 't.expires_at', before: 'now()' },
  { table: 'pending_sign_ins', by: 't.expires_at', before: 'now()' },
  { table: 'provider_sign_ins', by: 't.expires_at', before: 'now()' },
  { table: 'logout_tokens', by: 't.expires_at', before: 'now()' },
  { table: 'email_links', by: 't.expires_at', before: 'now()' },
  { table: 'mails', by: 't.finished_at', before: RETENTION },
  { table: 'rate_limit_periods', by: 't.ends_at', before: 'now()' },
  // Expired secrets are kept for a while because they get a different error than wrong ones.
  {
    table: 'client_secrets',
    by: 't.expires_at',
    before: RETENTION,
  },
  { table: 'grants', by: 't.revoked_at', before: RETENTION },
  { table: 'grants', by: 't.expires_at', before: RETENTION },
  {
    table: 'grants',
    by: 't.look_again_at',
    before: RETENTION,
    condition: `t.refresh_expires_at < ${RETENTION}`,
  },
  {
    table: 'event_idempotency_keys',
    by: 't.created_at',
    before: "now() - interval '24 hours'",
  },
  // With its deliveries and their attempts, unless one of them is still pending.
  {
    table: 'events',
    by: 't.created_at',
    before: RETENTION,
    condition: "NOT EXISTS (SELECT 1 FROM deliveries WHERE event_id = t.id AND state = 'pending')",
  },
  // A thing that is silent for longer starts again at 1.
  {
    table: 'event_sequences',
    by: 't.seen_on',
    before: `least(${RETENTION}, now() - interval '400 days')`,
  },
  { table: 'webhook_endpoints', by: 't.deleted_at', before: RETENTION },
  {
    table: 'webhook_endpoint_hours',
    by: 't.hour',
    before: RETENTION,
  },
  { table: 'webhook_recoveries', by: 't.created_at', before: RETENTION },
  { table: 'webhook_pauses', by: 't.enabled_at', before: RETENTION },
  {
    table: 'activity_hours',
    by: 't.hour',
    before: RETENTION,
  },
  // A change only matters to tokens issued before its commit.
  {
    table: 'access_changes',
    by: 't.committed_by',
    before: `now() - interval '1 hour' - make_interval(secs => (
      SELECT coalesce(max(access_ttl), 0) FROM token_keys
       WHERE retired_at IS NULL OR retired_at > now() - make_interval(secs => access_ttl)))`,
  },
  // Kept as long as the last grant whose refresh tokens it signed, so that a replay is noticed until then.
  { table: 'token_keys', by: 't.retired_at', before: `${RETENTION} - make_interval(secs => t.grant_ttl)` },
  // Notifications that need action: after they were resolved. Others: after they were read, or after a year.
  { table: 'notifications', by: 't.resolved_at', before: RETENTION },
  { table: 'notifications', by: 't.read_at', before: RETENTION, condition: NOTHING_TO_DO },
  {
    table: 'notifications',
    by: 't.event_time',
    before: "now() - interval '365 days'",
    condition: `t.read_at IS NULL AND ${NOTHING_TO_DO}`,
  },
  // After 365 days, a period fixed in the function: the service itself must not delete from the audit log.
  { table: 'audit_events', by: 't.occurred_at', before: '', function: 'purge_audit_events' },
];
