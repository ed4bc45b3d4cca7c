import { createHash } from 'node:crypto';
import { load } from './dist.mjs';
import { CONNECTIONS } from './load.mjs';

export const CLIENTS = 20;
export const USERS = 1000;
/** Live tokens of the small table, all of them used. */
export const TOKENS = 10_000;
export const SCOPES = ['charging_session:read', 'vehicle:read'];
export const REDIRECT_URI = 'https://partner.example/callback';
const FAMILIES = CONNECTIONS * 4;
const INTROSPECTOR = 100;

const id = (prefix, n) => prefix + String(n).padStart(26, '0');
export const sha256 = (text) => createHash('sha256').update(text).digest();

/**
 * What the workloads work on, in the tables as the service would have written it: an owner, clients with a secret each,
 * users who consented to one client each, their grants and 10,000 live access tokens.
 */
export async function makeSetting({ query, pool }) {
  const { newSecret, digestOf } = await load('secrets/tokens.js');
  const secretsOf = (kind, count) => Array.from({ length: count }, () => newSecret(kind));
  const owner = id('user', 0);
  await query(
    `INSERT INTO users (id, email, email_key, name, kind, role) VALUES ($1, 'owner@bench.example', 'owner@bench.example', 'Bench', 'organisation', 'user')`,
    [owner],
  );
  await addUsers(pool, 1, USERS);
  const clients = secretsOf('clientSecret', CLIENTS).map((secret, n) => ({ id: id('clnt', n + 1), secret }));
  for (const client of clients) {
    await addClient(query, client, owner, ['client_credentials', 'authorization_code'], SCOPES);
  }
  const introspector = { id: id('clnt', INTROSPECTOR), secret: newSecret('clientSecret') };
  await addClient(query, introspector, owner, ['client_credentials'], ['token:introspect']);

  const users = Array.from({ length: USERS }, (_, n) => {
    return { id: id('user', n + 1), client: clients[n % CLIENTS], grantId: id('grnt', n + 1) };
  });
  await query(
    `INSERT INTO consents (client_id, user_id, scopes)
     SELECT client_id, user_id, $3 FROM unnest($1::text[], $2::text[]) AS pair (client_id, user_id)`,
    [users.map((user) => user.client.id), users.map((user) => user.id), SCOPES],
  );
  await addGrants(query, users);
  const tokens = secretsOf('accessToken', TOKENS).map((secret, n) => ({ secret, user: users[n % USERS] }));
  await query(
    `INSERT INTO access_tokens (digest, client_id, grant_id, scopes, expires_at)
     SELECT digest, client_id, grant_id, $4, now() + interval '10 hours'
       FROM unnest($1::bytea[], $2::text[], $3::text[]) AS token (digest, client_id, grant_id)`,
    [
      tokens.map(({ secret }) => digestOf(secret)),
      tokens.map(({ user }) => user.client.id),
      tokens.map(({ user }) => user.grantId),
      SCOPES,
    ],
  );
  const clientTokens = secretsOf('accessToken', CLIENTS).map((secret, n) => ({ secret, client: clients[n] }));
  await query(
    `INSERT INTO access_tokens (digest, client_id, scopes, expires_at)
     SELECT digest, client_id, $3, now() + interval '10 hours'
       FROM unnest($1::bytea[], $2::text[]) AS token (digest, client_id)`,
    [clientTokens.map(({ secret }) => digestOf(secret)), clients.map((client) => client.id), SCOPES],
  );
  await query('VACUUM ANALYZE');
  let grants = 1_000_000;
  const newGrants = async (count) => {
    const made = Array.from({ length: count }, (_, n) => ({
      ...users[n % USERS],
      grantId: id('grnt', ++grants),
    }));
    await addGrants(query, made);
    return made;
  };
  return {
    ...{ owner, clients, introspector, users, tokens, clientTokens, newGrants },
    /** New families of tokens, as texts that a program of its own can know: of the nth connection `<name>-<n>-0`. */
    namedFamilies: async (name) =>
      addRefreshTokens(
        query,
        await newGrants(CONNECTIONS),
        Array.from({ length: CONNECTIONS }, (_, n) => sha256(`${name}-${n}-0`)),
      ),
    /** New families: the live refresh token of each, and whose it is. */
    newFamilies: async () => {
      const secrets = secretsOf('refreshToken', FAMILIES);
      const made = await newGrants(FAMILIES);
      await addRefreshTokens(query, made, secrets.map(digestOf));
      return secrets.map((secret, n) => ({ secret, client: made[n].client }));
    },
  };
}

/** Users with the numbers `from` and so on. */
export async function addUsers(pool, from, count) {
  await pool.query(
    `INSERT INTO users (id, email, email_key, name, kind, role)
     SELECT 'user' || lpad(n::text, 26, '0'), 'user' || n || '@bench.example', 'user' || n || '@bench.example',
            'User ' || n, 'individual', 'user'
       FROM generate_series($1::int, $1::int + $2::int - 1) n`,
    [from, count],
  );
}

async function addClient(query, { id: clientId, secret }, owner, grantTypes, scopes) {
  await query(
    `INSERT INTO clients (id, name, type, grant_types, scopes, redirect_uris, owner_id)
     VALUES ($1, 'Bench', 'confidential', $2, $3, $4, $5)`,
    [clientId, grantTypes, scopes, grantTypes.includes('authorization_code') ? [REDIRECT_URI] : [], owner],
  );
  await query('INSERT INTO client_secrets (client_id, digest) VALUES ($1, $2)', [clientId, sha256(secret)]);
}

async function addGrants(query, grants) {
  await query(
    `INSERT INTO grants (id, client_id, user_id, scopes, expires_at)
     SELECT id, client_id, user_id, $4, now() + interval '365 days'
       FROM unnest($1::text[], $2::text[], $3::text[]) AS given (id, client_id, user_id)`,
    [
      grants.map((grant) => grant.grantId),
      grants.map((grant) => grant.client.id),
      grants.map((grant) => grant.id),
      SCOPES,
    ],
  );
}

async function addRefreshTokens(query, grants, digests) {
  await query(
    `INSERT INTO refresh_tokens (digest, grant_id, expires_at)
     SELECT digest, grant_id, now() + interval '30 days'
       FROM unnest($1::bytea[], $2::text[]) AS token (digest, grant_id)`,
    [digests, grants.map((grant) => grant.grantId)],
  );
  return grants;
}
