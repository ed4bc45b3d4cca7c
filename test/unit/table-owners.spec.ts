import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

/** The module that owns each table: only it changes the table. */
const OWNERS: Record<string, string[]> = {
  activity: ['activity_hours'],
  audit: ['audit_events'],
  clients: ['clients', 'client_secrets'],
  consents: ['consents'],
  database: ['access_changes', 'migrations', 'required_migrations'],
  notifications: ['notifications'],
  'rate-limits': ['rate_limit_periods'],
  scopes: ['scopes'],
  tokens: ['authorization_codes', 'grants', 'revoked_access_tokens', 'token_keys'],
  users: ['password_links', 'sessions', 'users'],
  'webhook-portal': ['portal_links', 'portal_sessions'],
  webhooks: [
    'deliveries',
    'delivery_attempts',
    'encryption_canary',
    'event_idempotency_keys',
    'event_types',
    'events',
    'webhook_endpoint_hours',
    'webhook_endpoints',
    'webhook_recoveries',
  ],
};

/** Where a statement reads other modules' tables, because it has to decide or return everything at once. */
const READS: Record<string, string[]> = {
  'activity/activity.repository.ts': ['clients'],
  'clients/clients.repository.ts': ['users'],
  'consents/consents.repository.ts': ['users'],
  'scopes/scopes.repository.ts': ['clients'],
  'tokens/access-tokens.repository.ts': ['clients', 'consents', 'users'],
  'tokens/authorization-codes.repository.ts': ['clients', 'consents', 'sessions', 'users'],
  'tokens/connected-clients.repository.ts': ['clients', 'consents', 'scopes'],
  'tokens/purge-tasks.ts': ['deliveries'],
  'tokens/refresh-tokens.repository.ts': ['clients', 'consents', 'users'],
  'webhook-portal/portal-links.repository.ts': ['clients', 'grants', 'users'],
  'webhook-portal/portal-owner.ts': ['clients', 'consents', 'grants', 'users'],
  'webhooks/deliveries/deliveries.repository.ts': ['clients', 'consents'],
  'webhooks/deliveries/delivery-queue.repository.ts': ['clients', 'consents'],
  'webhooks/endpoints/endpoints.repository.ts': ['clients'],
  'webhooks/events/events.repository.ts': ['clients', 'consents', 'users'],
  'webhooks/signing/encryption-canary.repository.ts': ['token_keys'],
};

/** Where a statement changes another module's table. */
const WRITES: Record<string, string[]> = {
  // A period and its notification begin together, once, in one guarded statement.
  'rate-limits/rate-limit-notices.repository.ts': ['notifications'],
  // The epoch of a client's tokens is a column of the client.
  'tokens/grants.repository.ts': ['clients'],
};

const OWNER_OF = new Map(
  Object.entries(OWNERS).flatMap(([owner, tables]) => tables.map((table) => [table, owner])),
);
const SOURCE = path.join(__dirname, '..', '..', 'src');
const WRITE = /\b(?:INSERT INTO|DELETE FROM|(?<!\bFOR |\bDO |KEY )UPDATE)\s+(?:ONLY\s+)?([a-z_]+)/g;
// The tables of a FROM with commas, and of each JOIN and USING.
const READ =
  /\b(?:FROM|JOIN|USING)\s+(?:ONLY\s+)?([a-z_]+(?:(?:\s+AS)?\s+[a-z]+)?(?:,\s+[a-z_]+(?:\s+AS)?\s+[a-z]+)*)/g;

/** For each file, the tables of other modules in the places that a pattern finds. */
function foreignTables(pattern: RegExp): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  for (const entry of readdirSync(SOURCE, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith('.ts')) continue;
    const file = path.relative(SOURCE, path.join(entry.parentPath, entry.name));
    const text = readFileSync(path.join(SOURCE, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
    const tables = [...text.matchAll(pattern)]
      .flatMap(([, names]) => names!.split(',').map((name) => name.trim().split(/\s/)[0]!))
      .filter((table) => OWNER_OF.has(table) && OWNER_OF.get(table) !== file.split(path.sep)[0]);
    if (tables.length > 0) found[file] = [...new Set(tables)].sort();
  }
  return found;
}

describe('Every table has an owner', () => {
  it('and no other module changes it, but for the named exceptions', () => {
    expect(foreignTables(WRITE)).toEqual(WRITES);
  });

  it('and no other module reads it in SQL, but for the named exceptions', () => {
    expect(foreignTables(READ)).toEqual(READS);
  });
});
