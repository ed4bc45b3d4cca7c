import { inOrder, RETENTION } from '#platform/database/purge/purge-tasks.js';
import { PurgeService } from '#platform/database/purge/purge.service.js';
import { useSharedService } from '../support/test-service.js';

/** Everything that is purged: table and column. */
const EXPECTED = [
  ...['access_changes committed_by', 'activity_hours hour', 'approvals expires_at', 'audit_events id'],
  ...['authorization_codes expires_at', 'client_key_uses last_used_at', 'client_requests occurred_at'],
  ...['consent_notices expires_at', 'consent_versions recorded_at', 'data_exports expires_at'],
  ...['disclosure_batches received_at', 'disclosure_days day'],
  ...[
    'email_links expires_at',
    'event_idempotency_keys created_at',
    'event_sequences seen_on',
    'events created_at',
    'form_answers expires_at',
  ],
  ...[
    'grants expires_at',
    'grants look_again_at',
    'grants revoked_at',
    'logos stored_at',
    'logout_tokens expires_at',
  ],
  ...['mails finished_at', 'notifications event_time', 'notifications read_at', 'notifications resolved_at'],
  ...['organisation_invitations expires_at', 'password_links expires_at', 'pending_sign_ins expires_at'],
  ...['portal_links expires_at', 'portal_member_sessions expires_at', 'portal_sessions expires_at'],
  ...[
    'provider_sign_ins expires_at',
    'pushed_requests expires_at',
    'rate_limit_periods ends_at',
    'redirect_uri_requests decided_at',
  ],
  ...['request_records occurred_at'],
  ...[
    'revoked_access_tokens expires_at',
    'sandbox_faults expires_at',
    'sessions expires_at',
    'token_keys retired_at',
  ],
  ...[
    'used_proofs expires_at',
    'webauthn_challenges expires_at',
    'webhook_endpoint_hours hour',
    'webhook_endpoints deleted_at',
  ],
  ...['webhook_pauses enabled_at', 'webhook_recoveries created_at', 'webhook_signing_keys retired_at'],
];

/** Tables with the end of something in a column, of which nothing is purged. */
const KEPT: Record<string, string> = {
  account_deletions: 'the wish of an owner ends with the account, or with the wish',
  client_contacts: 'an address stays, verified or not, until it is removed or its client deleted',
  client_secrets:
    'an ended secret is known as long as its client exists, so that no company file brings it back',
  consents: 'that a consent was withdrawn is remembered as long as its user and client exist',
  deliveries: 'go with their events',
  log_exports: 'always one row for each log',
  receipt_keys: 'the public part of a key verifies receipts for good',
  webhook_throttles: 'one row for each endpoint, which goes with it',
};

describe('The purge', () => {
  const service = useSharedService();
  const tasks = () => service.app.get(PurgeService).tasks();

  it('has the tasks of all modules, each once', () => {
    expect(
      tasks()
        .map(({ table, by }) => `${table} ${by}`)
        .sort(),
    ).toEqual(EXPECTED);
  });

  it('covers every table in which something ends', async () => {
    const ending = await service.database.query<{ table: string }>(`
      SELECT DISTINCT table_name AS "table" FROM information_schema.columns
       WHERE table_schema = 'public' AND data_type = 'timestamp with time zone'
         AND column_name ~ '(expire|end|until|finish|delet|retire|revoke|resolve|decide)' ORDER BY 1`);
    const purged = new Set(tasks().map(({ table }) => table));
    expect(ending.map(({ table }) => table).filter((table) => !purged.has(table))).toEqual(Object.keys(KEPT));
  });

  it('deletes first what has expired, then what was kept for a time, and from the audit log last', () => {
    const tasks = inOrder([
      { table: 'log', by: 'at', function: 'purge_log' },
      { table: 'kept', by: 'ended_at', before: RETENTION },
      { table: 'expired', by: 'expires_at' },
    ]);
    expect(tasks.map(({ table }) => table)).toEqual(['expired', 'kept', 'log']);
  });
});
