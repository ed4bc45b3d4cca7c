import { load } from './dist.mjs';
import { id } from './setting.mjs';

export const CLIENTS = 40;
/** People of each kind who have more of everything than others, and a session each. */
export const PEOPLE = 40;
/** The client that has half of all consents, and its endpoints. */
export const LARGEST = id('clnt', 1);
const ENDPOINTS = 20;
const OWNER = id('user', 0);
const SCOPES = ['charging_session:read', 'vehicle:read'];
const CHUNK = 250_000;
// Of each of those people.
const [APPLICATIONS, NOTIFICATIONS, SESSIONS, AUDIT_EVENTS, DAYS] = [20, 300, 20, 400, 90];
const FIRST = { driver: 1, member: 1_000_001, admin: 2_000_001 };

/** Makes `to_id(prefix, time, n)` of this connection: the id of something that was created then. */
const TO_ID = `
  CREATE OR REPLACE FUNCTION pg_temp.to_id(prefix text, at timestamptz, n bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT prefix || string_agg(substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((ms >> (5 * place)) & 31)::int + 1, 1), '' ORDER BY place DESC)
           || lpad(n::text, 16, '0')
      FROM generate_series(0, 9) place, (SELECT floor(extract(epoch FROM at) * 1000)::bigint AS ms) given
  $$`;
// The same in every statement: ids are made of it.
const SOME_TIME = `'${new Date().toISOString()}'::timestamptz - interval '25 days' * (1 - n::float8 / $3)`;
const clientOf = (n) =>
  `'clnt' || lpad((CASE WHEN ${n} % 2 = 0 THEN 1 ELSE ${n} % ${CLIENTS} + 1 END)::text, 26, '0')`;
const numbered = (prefix, n) => `'${prefix}' || lpad((${n})::text, 26, '0')`;

/**
 * Fills an empty database as it is after years: `rows` drivers with a consent and a grant each, and as many events, deliveries, entries of
 * the audit log, notifications and requests; an organisation with its clients and members, operators, and drivers with much of everything.
 * Triggers and foreign keys are off meanwhile. Returns nothing; `sessionsOf` makes what is needed to look at it.
 */
export async function fillLarge(connection, { rows, say }) {
  const query = (text, values) => connection.query(text, values);
  const inChunks = async (what, count, text, ...more) => {
    const begun = performance.now();
    for (let from = 1; from <= count; from += CHUNK) {
      const to = Math.min(count, from + CHUNK - 1);
      await query(text, [from, to, ...more]);
    }
    say(`  ${what}: ${Math.round((performance.now() - begun) / 1000)} s`);
  };
  await query(
    "SET session_replication_role = replica; SET maintenance_work_mem = '1GB'; SET synchronous_commit = off",
  );
  await query(TO_ID);
  await addPeople(query);
  await inChunks(
    'users',
    rows,
    `INSERT INTO users (id, email, email_key, name, kind, role, email_verified_at)
     SELECT ${numbered('user', '10000000 + n')}, 'driver' || n || '@bench.example', 'driver' || n || '@bench.example',
            'Driver ' || n, 'individual', 'user', now() FROM generate_series($1::int, $2::int) n`,
  );
  await inChunks(
    'consents',
    rows,
    `INSERT INTO consents (client_id, user_id, scopes, granted_at, expires_at)
     SELECT ${clientOf('n')}, ${numbered('user', '10000000 + n')}, $3, now() - n % 300 * interval '1 day',
            CASE WHEN n % 4 = 0 THEN now() + interval '1 day' + n % 300 * interval '1 day' END
       FROM generate_series($1::int, $2::int) n`,
    SCOPES,
  );
  await inChunks(
    'versions of consents',
    rows,
    `INSERT INTO consent_versions (client_id, user_id, number, recorded_at, event, scopes, granted_at, method, client_name, environment)
     SELECT ${clientOf('n')}, ${numbered('user', '10000000 + n')}, 1, now() - n % 300 * interval '1 day', 'given', $3,
            now() - n % 300 * interval '1 day', 'page', 'Bench', 'live' FROM generate_series($1::int, $2::int) n`,
    SCOPES,
  );
  await inChunks(
    'grants',
    rows,
    `INSERT INTO grants (id, client_id, user_id, scopes, expires_at, token_key_id, token_era, token_position, access_expires_at, refresh_expires_at, look_again_at)
     SELECT ${numbered('grnt', '10000000 + n')}, ${clientOf('n')}, ${numbered('user', '10000000 + n')}, $3, now() + interval '360 days', 0, 0, 0,
            now() + interval '10 hours', now() + interval '30 days', now() + interval '30 days' FROM generate_series($1::int, $2::int) n`,
    SCOPES,
  );
  await inChunks(
    'notifications',
    rows,
    `INSERT INTO notifications (id, user_id, client_id, message_id, category, event_time, short_text_title, short_text_body)
     SELECT pg_temp.to_id('notf', ${SOME_TIME}, n), ${numbered('user', '10000000 + n')}, ${clientOf('n')}, 'ERR1001', 'SERVICE', ${SOME_TIME},
            'A message', 'What it says.' FROM generate_series($1::int, $2::int) n`,
    rows,
  );
  await addEvents(query, inChunks, rows);
  await addRecords(query, inChunks, rows);
  await query('RESET session_replication_role');
  const begun = performance.now();
  await query('VACUUM (ANALYZE, FREEZE)');
  await query('CHECKPOINT');
  say(`  vacuum: ${Math.round((performance.now() - begun) / 1000)} s`);
}

/** An organisation with its clients and members, operators, and drivers who have used the service for years. */
async function addPeople(query) {
  await query(
    `INSERT INTO users (id, email, email_key, name, kind, role, webhooks_enabled) VALUES ($1, 'owner@bench.example', 'owner@bench.example', 'Bench', 'organisation', 'user', true)`,
    [OWNER],
  );
  for (const [kind, first] of Object.entries(FIRST)) {
    await query(
      `INSERT INTO users (id, email, email_key, name, kind, role, operator_role, email_verified_at)
       SELECT ${numbered('user', '$1::int + n')}, $2 || n || '@people.example', $2 || n || '@people.example', initcap($2) || ' ' || n, 'individual',
              CASE $2 WHEN 'admin' THEN 'operator' ELSE 'user' END, CASE $2 WHEN 'admin' THEN 'admin' END, now()
         FROM generate_series(0, ${PEOPLE - 1}) n`,
      [first, kind],
    );
  }
  await query(
    `INSERT INTO clients (id, name, type, owner_id, grant_types, scopes, redirect_uris, optional_scopes)
     SELECT ${numbered('clnt', 'n')}, 'Application ' || n, 'confidential', $1, '{client_credentials,authorization_code}', $2,
            '{https://partner.example/callback}', '{}' FROM generate_series(1, ${CLIENTS}) n`,
    [OWNER, SCOPES],
  );
  await query(
    `INSERT INTO organisation_members (organisation_id, user_id, role)
     SELECT $1, ${numbered('user', '$2::int + n')}, 'admin' FROM generate_series(0, ${PEOPLE - 1}) n`,
    [OWNER, FIRST.member],
  );
  await query(
    `INSERT INTO consents (client_id, user_id, scopes)
     SELECT ${numbered('clnt', 'c')}, ${numbered('user', '$1::int + n')}, $2 FROM generate_series(1, ${APPLICATIONS}) c, generate_series(0, ${PEOPLE - 1}) n`,
    [FIRST.driver, SCOPES],
  );
  await query(
    `INSERT INTO consent_versions (client_id, user_id, number, event, scopes, granted_at, method, client_name, environment)
     SELECT client_id, user_id, 1, 'given', scopes, granted_at, 'page', 'Bench', 'live' FROM consents`,
  );
  await query(
    `INSERT INTO grants (id, client_id, user_id, scopes, expires_at, token_key_id, token_era, token_position, access_expires_at, refresh_expires_at, look_again_at)
     SELECT ${numbered('grnt', 'row_number() OVER ()')}, client_id, user_id, scopes, now() + interval '360 days', 0, 0, 0,
            now() + interval '10 hours', now() + interval '30 days', now() + interval '30 days' FROM consents, generate_series(1, 3)`,
  );
  await query(
    `INSERT INTO notifications (id, user_id, client_id, message_id, category, event_time, short_text_title, short_text_body, read_at)
     SELECT pg_temp.to_id('notf', now() - n * interval '1 hour', u * 1000 + n), ${numbered('user', '$1::int + u')}, ${numbered('clnt', 'n % 20 + 1')},
            'ERR1001', 'SERVICE', now() - n * interval '1 hour', 'A message', 'What it says.', CASE WHEN n > 50 THEN now() END
       FROM generate_series(1, ${NOTIFICATIONS}) n, generate_series(0, ${PEOPLE - 1}) u`,
    [FIRST.driver],
  );
  await query(
    `INSERT INTO audit_events (id, occurred_at, actor_type, actor_id, action, subject_type, subject_id, address)
     SELECT pg_temp.to_id('audt', now() - n * interval '1 hour', u * 1000 + n), now() - n * interval '1 hour', 'user', ${numbered('user', '$1::int + u')},
            'session.started', 'user', ${numbered('user', '$1::int + u')}, '192.0.2.1' FROM generate_series(1, ${AUDIT_EVENTS}) n, generate_series(0, ${PEOPLE - 1}) u`,
    [FIRST.driver],
  );
  await query(
    `INSERT INTO disclosure_days (user_id, client_id, day, scope, requests)
     SELECT ${numbered('user', '$1::int + u')}, ${numbered('clnt', 'c')}, current_date - d, s, 100
       FROM generate_series(0, ${PEOPLE - 1}) u, generate_series(1, ${APPLICATIONS}) c, generate_series(0, ${DAYS - 1}) d, unnest($2::text[]) s`,
    [FIRST.driver, SCOPES],
  );
}

/** Events of one kind, mostly of the largest client, and their deliveries with an attempt each; a twentieth failed. */
async function addEvents(query, inChunks, rows) {
  await query(
    `INSERT INTO webhook_endpoints (id, client_id, url, event_types, sealed_secret, enabled, disabled_at)
     SELECT ${numbered('endp', 'n')}, $1, 'https://partner.example/' || n, '{vehicle.updated,vehicle.created}', '', n > 1, CASE WHEN n = 1 THEN now() END
       FROM generate_series(1, ${ENDPOINTS}) n`,
    [LARGEST],
  );
  await inChunks(
    'events',
    rows,
    `INSERT INTO events (id, type, user_id, payload, deliveries, created_at, xid, test)
     SELECT pg_temp.to_id('evnt', ${SOME_TIME}, n), CASE WHEN n % 1000 = 0 THEN 'vehicle.created' ELSE 'vehicle.updated' END,
            ${numbered('user', '10000000 + n')}, '{"type":"vehicle.updated","data":{"id":"vehicle-1","state_of_charge":71}}', 1, ${SOME_TIME},
            n::text::xid8, n % 100 = 1 FROM generate_series($1::int, $2::int) n`,
    rows,
  );
  await inChunks(
    'deliveries',
    rows,
    `INSERT INTO deliveries (id, event_id, event_type, endpoint_id, client_id, state, cancel_reason, attempts, next_attempt_at, created_at, finished_at)
     SELECT pg_temp.to_id('dlvr', ${SOME_TIME}, n), pg_temp.to_id('evnt', ${SOME_TIME}, n),
            CASE WHEN n % 1000 = 0 THEN 'vehicle.created' ELSE 'vehicle.updated' END, ${numbered('endp', `n % ${ENDPOINTS} + 1`)}, '${LARGEST}',
            CASE WHEN n % 20 = 3 THEN 'failed' WHEN n % 50 = 7 THEN 'cancelled' ELSE 'delivered' END,
            CASE WHEN n % 20 <> 3 AND n % 50 = 7 THEN 'endpoint_disabled' END, 1, NULL, ${SOME_TIME}, ${SOME_TIME}
       FROM generate_series($1::int, $2::int) n`,
    rows,
  );
  await inChunks(
    'attempts',
    rows,
    `INSERT INTO delivery_attempts (delivery_id, number, attempted_at, duration_ms, url, signature, status)
     SELECT pg_temp.to_id('dlvr', ${SOME_TIME}, n), 1, ${SOME_TIME}, 12, 'https://partner.example/', 'v1,x', CASE WHEN n % 20 = 3 THEN 500 ELSE 200 END
       FROM generate_series($1::int, $2::int) n`,
    rows,
  );
  await query(
    `INSERT INTO webhook_endpoint_hours (endpoint_id, hour, delivered, failed, duration_ms, slowest_ms)
     SELECT ${numbered('endp', 'e')}, date_trunc('hour', now()) - h * interval '1 hour', 900, 9, 90000, 400
       FROM generate_series(1, ${ENDPOINTS}) e, generate_series(0, 719) h`,
  );
}

/** The audit log, the mails, and what is recorded of requests. */
async function addRecords(query, inChunks, rows) {
  await inChunks(
    'audit log',
    rows,
    `INSERT INTO audit_events (id, occurred_at, actor_type, actor_id, action, subject_type, subject_id, address)
     SELECT pg_temp.to_id('audt', ${SOME_TIME}, 1000000 + n), ${SOME_TIME}, 'user', ${numbered('user', '10000000 + n')},
            CASE WHEN n % 1000 = 0 THEN 'client.updated' ELSE 'session.started' END, 'user', ${numbered('user', '10000000 + n')}, '192.0.2.1'
       FROM generate_series($1::int, $2::int) n`,
    rows,
  );
  await inChunks(
    'mails',
    rows / 4,
    `INSERT INTO mails (id, kind, user_id, address, cause, state, attempts, created_at, sent_at, finished_at)
     SELECT pg_temp.to_id('mail', ${SOME_TIME}, n), 'notification', ${numbered('user', '10000000 + n')}, 'driver' || n || '@bench.example', 'bench ' || n,
            'sent', 1, ${SOME_TIME}, ${SOME_TIME}, ${SOME_TIME} FROM generate_series($1::int, $2::int) n`,
    rows / 4,
  );
  await inChunks(
    'records of requests',
    rows,
    `INSERT INTO request_records (occurred_at, request_id, method, route, status, error, refused_kind, refused, client_id, milliseconds, injected)
     SELECT now() - interval '20 hours' * (1 - n::float8 / $3), 'request-' || n, 'POST', '/o/token', 400, 'invalid_grant', 'token', 'expired', '${LARGEST}', 3, false
       FROM generate_series($1::int, $2::int) n`,
    rows,
  );
  await query(
    `INSERT INTO client_requests (client_id, occurred_at, method, route, status, request_id, milliseconds, injected)
     SELECT ${numbered('clnt', 'c')}, now() - n * interval '1 minute', 'GET', '/v2/users', 200, 'request-' || n, 3, false
       FROM generate_series(1, ${CLIENTS}) c, generate_series(1, 200) n`,
  );
  await query(
    `INSERT INTO activity_hours (client_id, hour, kind, detail, count, last_at)
     SELECT ${numbered('clnt', 'c')}, date_trunc('hour', now()) - h * interval '1 hour', kind, detail, 1000, now()
       FROM generate_series(1, ${CLIENTS}) c, generate_series(0, 719) h,
            (VALUES ('token_issued', 'client_credentials'), ('token_refused', 'invalid_grant'), ('rate_limited', 'partner')) what (kind, detail)`,
  );
}

/**
 * Starts a session for each of those people: the cookies by area, one for each person, and one for each link to the portal of the
 * largest client. Sessions that were started before are ended.
 */
export async function sessionsOf(query) {
  const { newSecret, digestOf } = await load('platform/secrets/tokens.js');
  const many = (kind) => Array.from({ length: PEOPLE }, () => newSecret(kind));
  const digests = (secrets) => secrets.map(digestOf);
  for (const table of ['sessions', 'portal_sessions', 'portal_member_sessions'])
    await query(`DELETE FROM ${table}`);
  const login = async (kind) => {
    const secrets = many('session');
    await query(
      `INSERT INTO sessions (digest, user_id, login_id, method, second_factor, authenticated_at, expires_at)
       SELECT digest, ${numbered('user', '$2::int + n - 1')}, 'login-' || $3 || n, 'passkey', true, now(), now() + interval '7 days'
         FROM unnest($1::bytea[]) WITH ORDINALITY AS s (digest, n)`,
      [digests(secrets), FIRST[kind], kind],
    );
    return secrets;
  };
  const [drivers, members, admins] = [await login('driver'), await login('member'), await login('admin')];
  await query(
    `INSERT INTO sessions (digest, user_id, login_id, method, expires_at)
     SELECT sha256((n || 'other' || u)::bytea), ${numbered('user', '$1::int + u')}, 'other-' || n || u, 'password', now() + interval '7 days'
       FROM generate_series(1, ${SESSIONS}) n, generate_series(0, ${PEOPLE - 1}) u`,
    [FIRST.driver],
  );
  const [links, portals] = [many('linkSession'), many('memberSession')];
  await query(
    `INSERT INTO portal_sessions (digest, client_id, expires_at) SELECT digest, $2, now() + interval '1 day' FROM unnest($1::bytea[]) digest`,
    [digests(links), LARGEST],
  );
  await query(
    `INSERT INTO portal_member_sessions (digest, client_id, user_id, member_of, login_id, expires_at)
     SELECT digest, $2, ${numbered('user', '$3::int + n - 1')}, $4, 'login-member' || n, now() + interval '1 day'
       FROM unnest($1::bytea[]) WITH ORDINALITY AS s (digest, n)`,
    [digests(portals), LARGEST, FIRST.member, OWNER],
  );
  return {
    account: drivers.map((secret) => `cds_session=${secret}`),
    console: admins.map((secret) => `cds_session=${secret}`),
    members: members.map((secret, n) => `cds_session=${secret}; cds_portal_session=${portals[n]}`),
    portal: links.map((secret) => `cds_portal_session=${secret}`),
  };
}

/** What stands for the parameter of a route after this part of its path: something that there is. */
export async function valuesOf(query) {
  const first = async (text) => (await query(text))[0]?.id;
  const newest = (table) => first(`SELECT id FROM ${table} ORDER BY id DESC LIMIT 1`);
  const driver = numberedId('user', FIRST.driver);
  return {
    ...{
      users: driver,
      clients: LARGEST,
      applications: id('clnt', 2),
      of: id('clnt', 2),
      'sign-in': LARGEST,
      consents: driver,
    },
    ...{
      endpoints: id('endp', 2),
      webhook_endpoints: id('endp', 2),
      grants: id('grnt', 1),
      members: numberedId('user', FIRST.member),
    },
    deliveries: await newest('deliveries'),
    notifications: await newest('notifications'),
    events: await newest('events'),
    mails: await newest('mails'),
    receipts: await first(`SELECT id FROM consent_versions WHERE user_id = '${driver}' LIMIT 1`),
    sessions: await first(`SELECT id FROM sessions WHERE user_id = '${driver}' LIMIT 1`),
    requests: 'request-1',
    scopes: SCOPES[0],
    ...{
      'event-types': 'vehicle.updated',
      event_types: 'vehicle.updated',
      versions: '1',
      problems: 'not-found',
    },
    ...{ guides: 'first-token', libraries: 'authlib' },
  };
}

const numberedId = (prefix, n) => id(prefix, n);

/** Adds a client of an admin with the scopes of the admin API; returns its id. */
export async function addAdminClient(query) {
  const clientId = id('clnt', 1_000);
  await query(
    `INSERT INTO clients (id, name, type, owner_id, grant_types, scopes, redirect_uris)
     VALUES ($1, 'Admin', 'confidential', $2, '{client_credentials}', '{admin:read}', '{}') ON CONFLICT DO NOTHING`,
    [clientId, id('user', FIRST.admin)],
  );
  return clientId;
}
