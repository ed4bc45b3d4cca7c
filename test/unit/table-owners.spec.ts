import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { ofFeature } from '../support/features.js';

/** The module that owns each table: only it changes the table. */
const OWNERS: Record<string, string[]> = {
  activity: ['activity_hours'],
  audit: ['audit_events'],
  brand: ['brand', 'logos'],
  'client-contacts': ['client_contacts'],
  clients: ['clients', 'client_key_uses', 'client_secret_uses', 'client_secrets', 'used_proofs'],
  'consent-receipts': ['receipt_keys'],
  consents: ['consent_notices', 'consent_versions', 'consent_words', 'consents'],
  database: ['access_changes', 'access_changes_purged', 'migrations', 'required_migrations'],
  disclosures: ['disclosure_batches', 'disclosure_days', 'disclosure_roll_up'],
  'four-eyes': ['approvals'],
  http: ['form_answers'],
  'identity-providers': ['identities', 'logout_tokens', 'provider_sign_ins'],
  mail: ['mails'],
  notifications: ['notifications'],
  oauth: ['pushed_requests'],
  'otlp-export': ['log_exports'],
  partners: ['client_requests', 'organisation_invitations', 'organisation_members'],
  'redirect-uri-requests': ['redirect_uri_requests'],
  'rate-limits': ['rate_limit_periods'],
  requests: ['request_records'],
  sandbox: ['sandbox_drivers', 'sandbox_planned_events'],
  'sandbox-faults': ['sandbox_faults'],
  scopes: ['purposes', 'scopes'],
  tokens: ['authorization_codes', 'grants', 'revoked_access_tokens', 'token_keys'],
  users: [
    'account_deletions',
    'authenticator_apps',
    'data_exports',
    'email_links',
    'passkeys',
    'password_links',
    'pending_sign_ins',
    'recovery_codes',
    'sessions',
    'users',
    'webauthn_challenges',
  ],
  'webhook-portal': ['portal_links', 'portal_member_sessions', 'portal_sessions'],
  webhooks: [
    'deliveries',
    'delivery_attempts',
    'encryption_canary',
    'event_idempotency_keys',
    'event_sequences',
    'event_type_versions',
    'event_types',
    'events',
    'webhook_endpoint_hours',
    'webhook_endpoints',
    'webhook_pauses',
    'webhook_signing_keys',
    'webhook_recoveries',
    'webhook_throttles',
  ],
};

/**
 * Where other modules' tables are read, because a statement has to decide or return everything at once; below, the reasons of
 * those that have another.
 */
const READS: Record<string, string[]> = {
  'records/activity/activity.repository.ts': ['clients'],
  'entrypoints/admin/console/waiting/waiting.repository.ts': ['webhook_endpoints'],
  'entrypoints/oauth/par/pushed-requests.repository.ts': ['clients'],
  'records/brand/brand.module.ts': ['clients'],
  'access/clients/clients.repository.ts': ['users'],
  'access/clients/operator-clients.repository.ts': ['organisation_members', 'users'],
  'access/clients/operator-role.sql.ts': ['scopes'],
  'access/consents/consent-expiry.repository.ts': ['clients', 'users'],
  'access/consents/consent.sql.ts': ['users'],
  'access/consents/consents.repository.ts': ['users'],
  'events/disclosures/deliveries-of-event.sql.ts': ['deliveries', 'delivery_attempts'],
  'events/disclosures/delivery-sums.repository.ts': ['consents', 'event_types', 'events'],
  'events/disclosures/disclosure-history.repository.ts': [
    'clients',
    'consents',
    'event_types',
    'events',
    'scopes',
  ],
  'events/disclosures/disclosures.repository.ts': ['consents', 'scopes'],
  'records/mail/mails.repository.ts': ['users'],
  'events/partners/members/invitations.repository.ts': ['users'],
  'events/partners/members/members.repository.ts': ['clients', 'users'],
  'events/sandbox/drivers.repository.ts': ['consents', 'users'],
  'events/sandbox/plans.repository.ts': ['users'],
  'access/scopes/purposes/purposes.repository.ts': ['clients'],
  'access/scopes/scopes.repository.ts': ['clients', 'event_types'],
  'access/tokens/access/access-tokens.repository.ts': ['clients', 'consents', 'users'],
  'access/tokens/codes/authorization-codes.repository.ts': ['clients', 'consents', 'sessions', 'users'],
  'access/tokens/grants/connected-clients.repository.ts': [
    'clients',
    'consent_versions',
    'consents',
    'scopes',
  ],
  'access/tokens/refresh/refresh-tokens.repository.ts': ['clients', 'consents', 'users'],
  // The addresses that an erased person had.
  'access/users/accounts/users.repository.ts': ['audit_events'],
  'access/users/factors/passkeys.repository.ts': ['identities'],
  'entrypoints/webhook-portal/access/member-sessions.repository.ts': [
    'clients',
    'organisation_members',
    'webhook_endpoints',
  ],
  'entrypoints/webhook-portal/access/portal-links.repository.ts': ['clients', 'grants'],
  'entrypoints/webhook-portal/access/opened-portal.sql.ts': ['clients', 'consents', 'grants', 'users'],
  'events/webhooks/deliveries/deliveries.repository.ts': ['clients'],
  'events/webhooks/deliveries/delivery-queue.repository.ts': ['clients'],
  'events/webhooks/deliveries/recoveries.repository.ts': ['clients', 'consents', 'users'],
  'events/webhooks/endpoints/endpoints.repository.ts': ['clients'],
  'events/webhooks/events/events.repository.ts': ['clients', 'consents', 'users'],
  'events/webhooks/feed/event-feed.repository.ts': ['clients', 'consents'],
  ...Object.fromEntries([
    ...ofFeature('client-contacts', [['features/client-contacts/contacts.repository.ts', ['clients']]]),
    // What all pages that follow a sandbox depend on, in one statement for an instance.
    ...ofFeature('live-sandbox', [
      [
        'features/live-sandbox/sandbox-states.repository.ts',
        [
          ...['client_requests', 'deliveries', 'portal_member_sessions', 'portal_sessions'],
          ...['sandbox_faults', 'sandbox_planned_events'],
        ],
      ],
    ]),
  ]),
  // Before the service is put together, when no module has its repository yet.
  'events/webhooks/signing/encryption-canary.repository.ts': ['token_keys'],
  'start/bootstrap-operator.ts': ['audit_events', 'client_secrets', 'clients', 'users'],
  'start/prepare-database.ts': [
    'audit_events',
    'client_secrets',
    'clients',
    'encryption_canary',
    'users',
    'webhook_endpoints',
  ],
  // The list of active grants shows the names of their clients and users.
  'access/tokens/grants/grant.entity.ts': ['clients', 'users'],
  // Locks the user whose grants end, so that nothing new is issued in the meantime.
  'access/tokens/grants/grants.repository.ts': ['users'],
  // The notification of the open period, together with the remaining seconds of the period.
  'access/rate-limits/partners/rate-limit-notifications.repository.ts': ['notifications'],
  // Readiness asks whether the migrations of this build have run.
  'entrypoints/operations/readiness.repository.ts': ['migrations'],
};

/** Where another module's table is changed. */
const WRITES: Record<string, string[]> = {
  // A period and its notification begin together, once, in one guarded statement.
  'access/rate-limits/partners/rate-limit-notifications.repository.ts': ['notifications'],
  // The first operator exists before the modules and their services do.
  'start/bootstrap-operator.ts': ['audit_events', 'client_secrets', 'clients', 'users'],
  // The epoch of a client's tokens is a column of the client.
  'access/tokens/grants/grants.repository.ts': ['clients'],
  // Erasing a user removes what the log says about the user, in the same transaction.
  'access/users/accounts/users.repository.ts': ['audit_events'],
};

/** Where the name of a table is filled into a statement, so that the patterns below do not see it. */
const FILLED_IN = [
  // Deletes expired rows of the tables that the modules register.
  'platform/database/purge/purge.repository.ts',
  // Reads a page of the list that it is asked for.
  'platform/database/queries/read-page.ts',
];

/** Functions of the database that change a table which the service's role cannot change. */
const FUNCTIONS: Record<string, string> = {
  forget_in_audit_events: 'audit_events',
  adopt_restored_audit_events: 'audit_events',
};

const OWNER_OF = new Map(
  Object.entries(OWNERS).flatMap(([owner, tables]) => tables.map((table) => [table, owner])),
);
/** `access/users/accounts/users.service.ts` is of `users`. */
const moduleOf = (file: string) => file.split(path.sep)[1];
const SOURCE = path.join(process.cwd(), 'src');
const TEXTS = new Map(
  readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => [
      file,
      readFileSync(path.join(SOURCE, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, ''),
    ]),
);
/** The table of each entity. */
const TABLE_OF = new Map(
  [...TEXTS.values()]
    .flatMap((text) => [...text.matchAll(/@Entity\('(\w+)'\)\s+export class (\w+)/g)])
    .map(([, table, entity]) => [entity!, table!]),
);

const WRITE = /\b(?:INSERT INTO|DELETE FROM|(?<!\bFOR |\bDO |KEY )UPDATE)\s+(?:ONLY\s+)?([a-z_]+)/g;
// The tables of a FROM with commas, and of each JOIN and USING.
const READ =
  /\b(?:FROM|JOIN|USING)\s+(?:ONLY\s+)?([a-z_]+(?:(?:\s+AS)?\s+[a-z]+)?(?:,\s+[a-z_]+(?:\s+AS)?\s+[a-z]+)*)/g;
const FUNCTION_CALL = /\bSELECT ([a-z_]+)\(\$/g;
const FILLS_IN =
  /\b(?:(?<!epoch |REVOKE [^`]*)FROM|JOIN|USING|INTO|(?<!\bFOR |KEY )UPDATE)\s+(?:ONLY\s+)?\$\{/;
// What TypeORM's managers and query builders are given: an entity or the name of a table. A `Repository` can also write.
const WRITE_OF =
  /(?:\.(?:insert|update|upsert|delete|softDelete|increment|decrement|into|save|remove|clear)|\.delete\(\)\s*\.from|\b(?:getRepository|InjectRepository))\(\s*'?(\w+)/g;
const READ_OF = /\.(?:from|\w*[jJ]oin\w*)\(\s*'(\w+)'/g;
const IMPORT = /^import \{([^}]*)\} from/gm;

const all = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, found]) => found!);
const tablesIn = (text: string, pattern: RegExp) =>
  all(text, pattern).flatMap((names) => names.split(',').map((name) => name.trim().split(/\s/)[0]!));
const toTable = (name: string) => TABLE_OF.get(name) ?? name;

const written = (text: string) => [
  ...tablesIn(text, WRITE),
  ...all(text, WRITE_OF).map(toTable),
  ...all(text, FUNCTION_CALL).map((name) => FUNCTIONS[name] ?? name),
];
/** An entity whose class is imported is read, however it is used. */
const read = (text: string) => [
  ...tablesIn(text, READ),
  ...all(text, READ_OF),
  ...all(text, IMPORT)
    .flatMap((names) => names.split(','))
    .map((name) => toTable(name.trim())),
];

/** For each file: the tables of other modules among those found in its text. A module imports entities only to register them. */
function foreignTables(tablesOf: (text: string) => string[]): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  for (const [file, text] of TEXTS) {
    const looked = /\.module\.tsx?$/.test(file) ? text.replaceAll(IMPORT, '') : text;
    const tables = tablesOf(looked).filter(
      (table) => OWNER_OF.has(table) && OWNER_OF.get(table) !== moduleOf(file),
    );
    if (tables.length > 0) found[file] = [...new Set(tables)].sort();
  }
  return found;
}

describe('Every table has an owner', () => {
  it('and every entity is of such a table', () => {
    expect([...TABLE_OF.values()].filter((table) => !OWNER_OF.has(table))).toEqual([]);
    expect(TABLE_OF.size).toBeGreaterThan(20);
  });

  it('and no other module changes it, but for the named exceptions', () => {
    expect(foreignTables(written)).toEqual(WRITES);
  });

  it('and no other module reads it, but for the named exceptions', () => {
    expect(foreignTables(read)).toEqual(READS);
  });

  it('and its module says what is purged of it', () => {
    const purged = [...TEXTS].flatMap(([file, text]) =>
      /\.module\.tsx?$/.test(file)
        ? all(text, /\{\s*table: '(\w+)',\s*by:/g).map((table) => [file, table])
        : [],
    );
    expect(purged.length).toBeGreaterThan(30);
    // How long a change matters depends on the keys of the tokens.
    expect(purged.filter(([file, table]) => OWNER_OF.get(table!) !== moduleOf(file!))).toEqual([
      ['access/tokens/tokens.module.ts', 'access_changes'],
    ]);
  });

  it('and statements name their tables, but for the named exceptions', () => {
    const files = [...TEXTS].filter(([, text]) => FILLS_IN.test(text)).map(([file]) => file);
    expect(files.sort()).toEqual(FILLED_IN);
  });

  it.each([
    "manager.insert(UserEntity, { id: 'user_1' })",
    "manager.createQueryBuilder().update('users').set({ enabled: false })",
    'manager.createQueryBuilder().delete().from(UserEntity)',
    'manager.getRepository(UserEntity).save(user)',
    '@InjectRepository(UserEntity) private readonly users: Repository<UserEntity>',
    'manager.query(`UPDATE users SET enabled = false`)',
  ])('notices the change in %s', (text) => {
    expect(written(text)).toContain('users');
  });

  it.each([
    "import { UserEntity, type UserRole } from '../users/accounts/user.entity.js';",
    "query.innerJoin('users', 'user', 'user.id = session.userId')",
    'manager.query(`SELECT 1 FROM sessions s, users u`)',
  ])('notices the read in %s', (text) => {
    expect(read(text)).toContain('users');
  });
});
