import { RETENTION, type PurgeTask } from '#platform/database/purge/purge-tasks.js';

/**
 * A consumed code is kept as long as its grant, so that a replay is noticed until the grant's last day. A grant is kept for the
 * retention time after its end, so that operators can look it up, and is purged with its codes.
 */
export const TOKENS_PURGE: PurgeTask[] = [
  { table: 'revoked_access_tokens', by: 'expires_at' },
  { table: 'authorization_codes', by: 'expires_at', condition: 't.consumed_at IS NULL' },
  { table: 'grants', by: 'revoked_at', before: RETENTION },
  { table: 'grants', by: 'expires_at', before: RETENTION },
  {
    table: 'grants',
    by: 'look_again_at',
    before: RETENTION,
    condition: `t.refresh_expires_at < ${RETENTION}`,
  },
  // A change only matters to tokens issued before its commit.
  {
    table: 'access_changes',
    by: 'committed_by',
    before: `now() - interval '1 hour' - make_interval(secs => (
      SELECT coalesce(max(access_ttl), 0) FROM token_keys
       WHERE retired_at IS NULL OR retired_at > now() - make_interval(secs => access_ttl)))`,
  },
  // Kept as long as the last grant whose refresh tokens it signed, so that a replay is noticed until then.
  { table: 'token_keys', by: 'retired_at', before: `${RETENTION} - make_interval(secs => t.grant_ttl)` },
];
