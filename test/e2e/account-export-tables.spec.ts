import { PersonalData } from '#access/users/accounts/personal-data.js';
import { useSharedService } from '../support/test-service.js';

describe('Every table that names a user', () => {
  const service = useSharedService();

  /** In which section of the export it is, or why in none. */
  const WHERE: Record<string, string> = {
    users: 'profile',
    passkeys: 'sign_in_methods',
    authenticator_apps: 'sign_in_methods',
    recovery_codes: 'sign_in_methods',
    sessions: 'sessions',
    password_links: 'links',
    email_links: 'links',
    account_deletions: 'leaving',
    data_exports: 'leaving',
    notifications: 'notifications',
    mails: 'mails',
    audit_events: 'changes',
    consents: 'consents',
    consent_notices: 'none: what the user was told of is among the notifications',
    consent_versions: 'receipts',
    disclosure_days: 'read_by_applications',
    grants: 'grants',
    clients: 'owned_applications',
    identities: 'identities',
    organisation_members: 'organisations',
    organisation_invitations: 'organisations',
    redirect_uri_requests: 'redirect_uri_requests',
    events: 'events',
    client_contacts: 'contact_of',
    portal_member_sessions: 'portal_sessions',
    approvals: 'approvals',
    rate_limit_periods: 'too_many_requests',
    authorization_codes: 'none: for a minute, and a part of the grant after it',
    revoked_access_tokens: 'none: what makes a token invalid, until it expires',
    pending_sign_ins: 'none: for minutes, between two steps of a login',
    webauthn_challenges: 'none: for minutes, while a passkey is used',
    provider_sign_ins: 'none: for minutes, between the steps of a login',
    event_sequences: 'none: counters of what is among the events',
    sandbox_drivers: 'none: made up',
    sandbox_planned_events: 'none: made up',
  };

  it('is in the export, or there is a reason', async () => {
    const tables = await service.database.query<{ table: string }>(
      `SELECT DISTINCT table_name AS "table" FROM information_schema.columns
        WHERE table_schema = 'public'
          AND (column_name IN ('user_id', 'owner_id', 'email', 'email_key', 'address', 'actor_id', 'subject_id',
                               'organisation_id', 'requested_by')
               OR (table_name, column_name) IN (('users', 'id')))
       UNION
       SELECT DISTINCT conrelid::regclass::text FROM pg_constraint WHERE contype = 'f' AND confrelid = 'users'::regclass`,
    );
    expect(tables.map(({ table }) => table).sort()).toEqual(Object.keys(WHERE).sort());
    const { names } = service.app.get(PersonalData);
    const named = Object.values(WHERE).filter((where) => !where.startsWith('none: '));
    // What a person did to others is in the same table as what happened to the account.
    expect([...new Set([...named, 'actions'])].sort()).toEqual([...names].sort());
    expect(new Set(names).size).toBe(names.length);
  });
});
