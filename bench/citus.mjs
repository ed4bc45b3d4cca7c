/**
 * What stands in the way of several database machines: the statements of docs/scaling.md on a cluster of Citus. After `npm run build`:
 *
 *   node bench/citus.mjs postgres://postgres@127.0.0.1:5432/charging
 *
 * The address is that of the coordinator, with a database that is empty but for `CREATE EXTENSION citus`, and with
 * `citus.enable_unsafe_triggers`. It makes the schema there, distributes consents, grants and codes by client, and copies users and
 * clients to every machine. Then it runs the service on an ordinary database, and asks Citus how it would run each of the service's
 * statements about these tables: on one shard, on several, or not at all.
 */
import { createHash, randomBytes } from 'node:crypto';
import pg from 'pg';
import { load } from './dist.mjs';
import { startEmbeddedService } from './embedded-service.mjs';
import { basic } from './http-text.mjs';
import { id, REDIRECT_URI, SCOPES, sha256 } from './setting.mjs';

/** Foreign keys may lead to a copied table or within one shard; the others have to go. Keys begin with the client. */
const DISTRIBUTE = `
  DO $$ DECLARE f record; BEGIN
    FOR f IN SELECT conrelid::regclass AS t, conname FROM pg_constraint
              WHERE contype = 'f' AND confrelid IN ('users'::regclass, 'clients'::regclass, 'consents'::regclass, 'grants'::regclass,
                                                    'consent_words'::regclass, 'logos'::regclass)
                AND (conrelid NOT IN ('clients'::regclass, 'consents'::regclass, 'users'::regclass) OR confrelid = 'logos'::regclass)
    LOOP EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', f.t, f.conname); END LOOP;
  END $$;
  ALTER TABLE grants DROP CONSTRAINT grants_pkey, ADD PRIMARY KEY (client_id, id);
  ALTER TABLE authorization_codes DROP CONSTRAINT authorization_codes_pkey, ADD PRIMARY KEY (client_id, digest)`;
const COPIED = ['users', 'clients', 'consent_words'];
const BY_CLIENT = ['consents', 'grants', 'authorization_codes'];
const ABOUT_THEM = new RegExp(`\\b(${[...COPIED, ...BY_CLIENT].join('|')})\\b`);

const owner = id('user', 1);
const user = id('user', 2);
const client = { id: id('clnt', 1), secret: 'b'.repeat(43) };
const introspector = { id: id('clnt', 2), secret: 'c'.repeat(43) };

const say = (line) => process.stdout.write(`${line}\n`);
const cluster = new pg.Client({ connectionString: process.argv[2] });
await cluster.connect();
await distribute();
const statements = await statementsOf(flow);
say('| The service | Statement | Citus |\n|---|---|---|');
for (const { step, text, values } of statements) {
  say(`| ${step} | \`${text.replace(/\s+/g, ' ').slice(0, 70)}\` | ${await planOf(text, values)} |`);
}
say(`\nA consent is inserted, with the triggers on its shard: ${await inserted()}`);
await cluster.end();

async function distribute() {
  const { migrate } = await load('platform/database/migrations/migrate.js');
  await migrate(process.argv[2], async () => undefined);
  await cluster.query('SET client_min_messages = error');
  const count = async () =>
    (await cluster.query("SELECT count(*)::int AS n FROM pg_constraint WHERE contype = 'f'")).rows[0].n;
  const before = await count();
  await cluster.query(DISTRIBUTE);
  say(`Foreign keys dropped: ${before - (await count())}\n`);
  for (const table of COPIED) await cluster.query(`SELECT create_reference_table('${table}')`);
  for (const table of BY_CLIENT)
    await cluster.query(`SELECT create_distributed_table('${table}', 'client_id')`);
}

/** How many shards a statement asks, in the order of its parts, or why it is refused. */
async function planOf(text, values) {
  // A refused one can leave its connection unusable.
  const connection = new pg.Client({ connectionString: process.argv[2] });
  await connection.connect();
  try {
    const { rows } = await connection.query({ text: `EXPLAIN (COSTS OFF) ${text}`, values });
    const tasks = rows.flatMap((row) => /Task Count: (\d+)/.exec(row['QUERY PLAN'])?.[1] ?? []);
    return tasks.length === 0 ? 'local' : `shards: ${tasks.join(' + ')}`;
  } catch (error) {
    return `**refused**: ${error.message}`;
  } finally {
    await connection.end();
  }
}

async function inserted() {
  await cluster.query('BEGIN');
  try {
    await insertCast((text, values) => cluster.query(text, values));
    await cluster.query(
      `INSERT INTO consents (client_id, user_id, scopes, realm, method) VALUES ($1, $2, $3, 'live', 'operator')`,
      [client.id, user, SCOPES],
    );
    return 'works';
  } catch (error) {
    return `refused: ${error.message}`;
  } finally {
    await cluster.query('ROLLBACK');
  }
}

/** The statements that the service sends while it does this, each with the step in which it came first. */
async function statementsOf(steps) {
  const { app, url, databaseUrl, stop } = await startEmbeddedService();
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });
  const found = new Map();
  let step;
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function recorded(config, ...rest) {
    const text = typeof config === 'string' ? config : config?.text;
    const values = Array.isArray(rest[0]) ? rest[0] : config?.values;
    if (step && text && ABOUT_THEM.test(text) && !found.has(text)) found.set(text, { step, text, values });
    return query.call(this, config, ...rest);
  };
  await steps({
    app,
    url,
    // Not a statement of the service.
    make: async (text, values) => {
      step = undefined;
      return (await pool.query(text, values)).rows;
    },
    during: async (name, work) => {
      step = name;
      const result = await work();
      step = undefined;
      return result;
    },
  });
  await pool.end();
  await stop();
  return [...found.values()];
}

async function insertCast(query) {
  for (const person of [owner, user]) {
    await query(
      `INSERT INTO users (id, email, email_key, name, kind, role) VALUES ($1::text, $1, $1, 'Bench', 'organisation', 'user')`,
      [person],
    );
  }
  for (const [{ id: clientId, secret }, grantTypes, scopes] of [
    [client, ['client_credentials', 'authorization_code'], SCOPES],
    [introspector, ['client_credentials'], ['token:introspect']],
  ]) {
    await query(
      `INSERT INTO clients (id, name, type, grant_types, scopes, redirect_uris, owner_id, company_service)
       VALUES ($1, 'Bench', 'confidential', $2, $3, $4, $5, 'token:introspect' = ANY ($3::text[]))`,
      [clientId, grantTypes, scopes, grantTypes.length > 1 ? [REDIRECT_URI] : [], owner],
    );
    await query('INSERT INTO client_secrets (client_id, digest) VALUES ($1, $2)', [clientId, sha256(secret)]);
  }
}

/** What partners, users and operators do all day. */
async function flow({ app, url, make, during }) {
  const { newSecret, digestOf } = await load('platform/secrets/tokens.js');
  const { SERVICE_ACTOR } = await load('records/audit/audit.service.js');
  const { UsersService } = await load('access/users/accounts/users.service.js');
  const { ClientsService } = await load('access/clients/clients.service.js');
  const { ConsentsService } = await load('access/consents/consents.service.js');
  const { ConsentApprovals } = await load('access/consents/consent-approvals.service.js');
  const { PublishingService } = await load('events/webhooks/events/publishing.service.js');
  const post = async (path, form, by = client) => {
    const headers = { authorization: basic(by) };
    const answer = await fetch(url + path, { method: 'POST', headers, body: new URLSearchParams(form) });
    return answer.status === 200 ? answer.json().catch(() => undefined) : undefined;
  };
  const users = (token) => fetch(`${url}/v2/users`, { headers: { authorization: `Bearer ${token}` } });
  await insertCast(make);
  const own = await during('a token for a client', () =>
    post('/o/token', { grant_type: 'client_credentials' }),
  );
  await during("`GET /v2/users`, a client's token", () => users(own.access_token));
  await during('a consent is recorded', () =>
    app.get(ConsentApprovals, { strict: false }).record(client.id, user, SCOPES, null, SERVICE_ACTOR),
  );
  const [code, verifier] = [newSecret('authorizationCode'), randomBytes(32).toString('base64url')];
  await make(
    `INSERT INTO authorization_codes (digest, client_id, user_id, redirect_uri, scopes, code_challenge, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, now() + interval '10 minutes')`,
    [
      ...[digestOf(code), client.id, user, REDIRECT_URI, SCOPES],
      createHash('sha256').update(verifier).digest('base64url'),
    ],
  );
  const exchange = {
    grant_type: 'authorization_code',
    redirect_uri: REDIRECT_URI,
    code,
    code_verifier: verifier,
  };
  const tokens = await during('a code exchange', () => post('/o/token', exchange));
  await during("`GET /v2/users`, a user's token", () => users(tokens.access_token));
  const { refresh_token } = await during('a refresh', () =>
    post('/o/token', { grant_type: 'refresh_token', refresh_token: tokens.refresh_token }),
  );
  await during('an introspection', () =>
    post('/o/introspect/', { token: tokens.access_token }, introspector),
  );
  const event = {
    type: 'charging_session.created',
    userId: user,
    timestamp: new Date().toISOString(),
    data: {},
  };
  await during('an event is published', () =>
    app.get(PublishingService, { strict: false }).publish(event, { id: client.id, realm: 'live' }),
  );
  await during('a refresh token is revoked', () => post('/o/revoke_token/', { token: refresh_token }));
  await during('a consent is withdrawn', () =>
    app.get(ConsentsService, { strict: false }).withdraw(client.id, user, SERVICE_ACTOR),
  );
  await during('a user is disabled', () =>
    app.get(UsersService, { strict: false }).update(user, { enabled: false }, SERVICE_ACTOR),
  );
  await during('a client is disabled', () =>
    app.get(ClientsService, { strict: false }).update(client.id, { enabled: false }, SERVICE_ACTOR),
  );
  await during('a user is erased', () => app.get(UsersService, { strict: false }).erase(user, SERVICE_ACTOR));
}
