import { createHash, randomBytes } from 'node:crypto';
import { load } from './dist.mjs';
import { createFloorTables } from './floor-tables.mjs';
import { CONNECTIONS } from './load.mjs';
import { peerTokens } from './servers.mjs';
import { TokenRange } from './token-range.mjs';
import { signerOf } from './token-signer.mjs';
import { newWallToken } from './wall-tokens.mjs';

export const CLIENTS = 20;
export const USERS = 1000;
/** The number of live tokens in the small table; all of them are used. */
export const TOKENS = 10_000;
export const SCOPES = ['charging_session:read', 'vehicle:read'];
export const REDIRECT_URI = 'https://partner.example/callback';
const INTROSPECTOR = 100;
// The first id of the grants created for a workload.
const FIRST_NEW_GRANT = 1_000_000;

export const id = (prefix, n) => prefix + String(n).padStart(26, '0');
export const sha256 = (text) => createHash('sha256').update(text).digest();

/**
 * The data for the workloads, in the tables as the service and the floor would have written it: an owner, clients with one secret
 * each, users who consented to one client each, and 10,000 live access tokens of their grants.
 */
export async function makeSetting({ query, pool }) {
  const { newSecret } = await load('platform/secrets/tokens.js');
  await createFloorTables(query);
  const owner = id('user', 0);
  await query(
    `INSERT INTO users (id, email, email_key, name, kind, role) VALUES ($1, 'owner@bench.example', 'owner@bench.example', 'Bench', 'organisation', 'user')`,
    [owner],
  );
  const clients = Array.from({ length: CLIENTS }, (_, n) => {
    return { id: id('clnt', n + 1), secret: newSecret('clientSecret') };
  });
  for (const client of clients) {
    await addClient(query, client, owner, ['client_credentials', 'authorization_code'], SCOPES);
  }
  const introspector = { id: id('clnt', INTROSPECTOR), secret: newSecret('clientSecret') };
  await addClient(query, introspector, owner, ['client_credentials'], ['token:introspect']);
  const users = Array.from({ length: USERS }, (_, n) => ({
    id: id('user', n + 1),
    client: clients[n % CLIENTS],
  }));
  const range = new TokenRange({
    ...{ name: 'small', tokens: TOKENS, firstGrant: 1, grants: USERS },
    ...{ firstUser: 1, users: USERS },
  });
  await range.fill(pool);
  await query('VACUUM ANALYZE');
  let grants = FIRST_NEW_GRANT;
  const newGrants = (count) =>
    Array.from({ length: count }, (_, n) => ({ ...users[n % USERS], grantId: id('grnt', ++grants) }));
  return {
    ...{ owner, clients, introspector, users, range },
    /** Creates the tokens that the workloads use, as texts for each side, once the service runs. */
    async sign(service) {
      const signer = await signerOf({ query }, service, clients[0], SCOPES);
      this.signer = signer;
      this.tokens = Array.from({ length: TOKENS }, (_, n) => {
        const token = range.token(n + 1, signer);
        return { ...token, wall: newWallToken(token.numbers) };
      });
      this.clientTokens = clients.map((client, n) => {
        const floor = randomBytes(32).toString('base64url');
        const [ours, wall] = [signer.ofClient(client.id), newWallToken({ client: n + 1 })];
        return { floor, ours, wall, client };
      });
      await query(
        `INSERT INTO floor.access_tokens (digest, client_id, scopes, expires_at)
         SELECT digest, client_id, $3, now() + interval '10 hours' FROM unnest($1::bytea[], $2::text[]) AS token (digest, client_id)`,
        [this.clientTokens.map(({ floor }) => sha256(floor)), clients.map((client) => client.id), SCOPES],
      );
    },
    /** Creates token families of the floor whose texts another program can compute: `<name>-<n>-0` for the nth connection. */
    async namedFamilies(name) {
      const made = newGrants(CONNECTIONS);
      await addGrants(query, 'floor', made);
      await addFloorTokens(
        query,
        made,
        made.map((_, n) => sha256(`${name}-${n}-0`)),
      );
    },
    /** Creates token families of one side: returns the live refresh token of each, and its client. */
    async newFamilies(side, count, server) {
      const made = newGrants(count);
      if (side === 'oidc-provider') {
        const asked = made.map((user) => ({
          kind: 'RefreshToken',
          userId: user.id,
          clientId: user.client.id,
        }));
        const texts = await peerTokens(server, asked);
        return texts.map((secret, n) => ({ secret, client: made[n].client }));
      }
      // oauth2-server has the floor's tables.
      const isOurs = side === 'ours';
      await addGrants(query, isOurs ? 'public' : 'floor', made);
      const secrets = made.map(({ grantId }) =>
        isOurs ? this.signer.toRefresh(grantId) : randomBytes(32).toString('base64url'),
      );
      if (!isOurs) await addFloorTokens(query, made, secrets.map(sha256));
      return secrets.map((secret, n) => ({ secret, client: made[n].client }));
    },
  };
}

async function addClient(query, { id: clientId, secret }, owner, grantTypes, scopes) {
  await query(
    `INSERT INTO clients (id, name, type, grant_types, scopes, redirect_uris, owner_id, company_service)
     VALUES ($1, 'Bench', 'confidential', $2, $3, $4, $5, 'token:introspect' = ANY ($3::text[]))`,
    [clientId, grantTypes, scopes, grantTypes.includes('authorization_code') ? [REDIRECT_URI] : [], owner],
  );
  await query('INSERT INTO client_secrets (client_id, digest) VALUES ($1, $2)', [clientId, sha256(secret)]);
}

/** Inserts grants whose first tokens have just been issued. */
async function addGrants(query, schema, grants) {
  const [more, values] =
    schema === 'floor'
      ? ['', '']
      : [
          ', token_key_id, token_era, token_position, access_expires_at, refresh_expires_at, look_again_at',
          `, 0, 0, 0, now() + interval '10 hours', now() + interval '30 days', now() + interval '30 days'`,
        ];
  await query(
    `INSERT INTO ${schema}.grants (id, client_id, user_id, scopes, expires_at${more})
     SELECT id, client_id, user_id, $4, now() + interval '365 days'${values}
       FROM unnest($1::text[], $2::text[], $3::text[]) AS given (id, client_id, user_id)`,
    [
      grants.map((grant) => grant.grantId),
      grants.map((grant) => grant.client.id),
      grants.map((grant) => grant.id),
      SCOPES,
    ],
  );
}

async function addFloorTokens(query, grants, digests) {
  await query(
    `INSERT INTO floor.refresh_tokens (digest, grant_id, expires_at)
     SELECT digest, grant_id, now() + interval '30 days'
       FROM unnest($1::bytea[], $2::text[]) AS token (digest, grant_id)`,
    [digests, grants.map((grant) => grant.grantId)],
  );
}
