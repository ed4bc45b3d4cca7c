/**
 * [oidc-provider](https://github.com/panva/node-oidc-provider) as its documentation describes it for production: opaque tokens, an adapter
 * for PostgreSQL, refresh tokens that rotate. Its clients are in memory, which is faster than asking the database for each request. POST
 * /bench/tokens makes tokens of users for the load, by the provider's own models.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import pg from 'pg';
import Provider from 'oidc-provider';
import { textOf } from '../bare-http.mjs';

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 20 });
const run = async (name, text, values) => (await pool.query({ name, text, values })).rows;
await run(
  'create',
  `CREATE TABLE IF NOT EXISTS floor.oidc_models (
     id text PRIMARY KEY, grant_id text, payload text NOT NULL, expires_at timestamptz, consumed_at timestamptz
   )`,
);
await run('index', 'CREATE INDEX IF NOT EXISTS oidc_models_of_grant ON floor.oidc_models (grant_id)');

const seconds = (time) => Math.floor(time.getTime() / 1000);

/** What oidc-provider calls: docs/README.md, "adapter". */
class Adapter {
  constructor(kind) {
    this.kind = kind;
  }

  upsert(id, payload, expiresIn) {
    return run(
      'upsert',
      `INSERT INTO floor.oidc_models (id, grant_id, payload, expires_at)
       VALUES ($1, $2, $3, now() + $4 * interval '1 second')
       ON CONFLICT (id) DO UPDATE SET grant_id = excluded.grant_id, payload = excluded.payload, expires_at = excluded.expires_at`,
      [`${this.kind}:${id}`, payload.grantId ?? null, JSON.stringify(payload), expiresIn ?? null],
    );
  }

  async find(id) {
    const [row] = await run(
      'find',
      'SELECT payload, consumed_at FROM floor.oidc_models WHERE id = $1 AND (expires_at IS NULL OR expires_at > now())',
      [`${this.kind}:${id}`],
    );
    if (!row) return undefined;
    const payload = JSON.parse(row.payload);
    return row.consumed_at ? { ...payload, consumed: seconds(row.consumed_at) } : payload;
  }

  consume(id) {
    return run('consume', 'UPDATE floor.oidc_models SET consumed_at = now() WHERE id = $1', [
      `${this.kind}:${id}`,
    ]);
  }

  destroy(id) {
    return run('destroy', 'DELETE FROM floor.oidc_models WHERE id = $1', [`${this.kind}:${id}`]);
  }

  revokeByGrantId(grantId) {
    return run('revoke', 'DELETE FROM floor.oidc_models WHERE grant_id = $1', [grantId]);
  }
}

const { clients, scopes } = JSON.parse(readFileSync(process.env.PEER_SETTING, 'utf8'));
const DAY_S = 86_400;
const provider = new Provider(`http://127.0.0.1:${process.env.PORT}`, {
  adapter: Adapter,
  clients: clients.map(({ id, secret }) => ({
    ...{ client_id: id, client_secret: secret, redirect_uris: ['https://partner.example/callback'] },
    ...{
      grant_types: ['client_credentials', 'authorization_code', 'refresh_token'],
      scope: scopes.join(' '),
    },
  })),
  scopes,
  features: {
    clientCredentials: { enabled: true },
    introspection: { enabled: true },
    devInteractions: { enabled: false },
  },
  findAccount: (_context, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
  issueRefreshToken: () => true,
  rotateRefreshToken: true,
  routes: { token: '/o/token', introspection: '/o/introspect/' },
  ttl: { AccessToken: 36_000, ClientCredentials: 36_000, Grant: 365 * DAY_S, RefreshToken: 30 * DAY_S },
});

/** A user's grant with a token of one kind. */
async function newToken({ kind, userId, clientId }) {
  const client = await provider.Client.find(clientId);
  const grant = new provider.Grant({ accountId: userId, clientId });
  grant.addOIDCScope(scopes.join(' '));
  const grantId = await grant.save();
  const token = new provider[kind]({
    accountId: userId,
    client,
    grantId,
    scope: scopes.join(' '),
    gty: 'authorization_code',
  });
  return token.save();
}

const provide = provider.callback();
const server = createServer(async (request, response) => {
  if (request.url === '/health/ready') return void response.end();
  if (request.url !== '/bench/tokens') return void provide(request, response);
  const asked = JSON.parse(await textOf(request));
  const tokens = [];
  for (const one of asked) tokens.push(await newToken(one));
  response.end(JSON.stringify(tokens));
});
server.listen(Number(process.env.PORT), '127.0.0.1');
process.once('SIGTERM', () => {
  server.close(() => void pool.end());
  server.closeAllConnections();
});
