/**
 * [@node-oauth/oauth2-server](https://github.com/node-oauth/node-oauth2-server) behind bare `node:http`, with a model over the floor's tables and
 * statements. The library has no introspection.
 */
import { createHash } from 'node:crypto';
import OAuth2Server from '@node-oauth/oauth2-server';
import pg from 'pg';
import { formOf, serve } from '../bare-http.mjs';
import { FLOOR_SEARCH_PATH } from '../floor-tables.mjs';
import { STATEMENTS } from '../statements.mjs';

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 20, options: FLOOR_SEARCH_PATH });
const TEXTS = {
  ...STATEMENTS,
  refreshTokenOfAny: `SELECT r.grant_id, g.scopes, g.client_id, g.user_id FROM refresh_tokens r JOIN grants g ON g.id = r.grant_id
                       WHERE r.digest = $1 AND r.retired_at IS NULL AND r.expires_at > now() AND g.revoked_at IS NULL`,
  retireOnce:
    'UPDATE refresh_tokens SET retired_at = now() WHERE digest = $1 AND retired_at IS NULL RETURNING grant_id',
};
const run = async (name, values) => (await pool.query({ name, text: TEXTS[name], values })).rows;
const sha256 = (text) => createHash('sha256').update(text).digest();
const DAY_S = 86_400;

const model = {
  async getClient(id, secret) {
    const rows = await run('client', [id]);
    const digest = sha256(secret);
    if (!rows.some((row) => row.digest.equals(digest))) return undefined;
    return { id, scopes: rows[0].scopes, grants: ['client_credentials', 'refresh_token'] };
  },
  getUserFromClient: ({ id }) => ({ id }),
  validateScope: (_user, client) => client.scopes,
  // Without a transaction: the library calls these one after the other, and has none.
  async getRefreshToken(token) {
    const [row] = await run('refreshTokenOfAny', [sha256(token)]);
    if (!row) return undefined;
    const user = { id: row.user_id, grantId: row.grant_id };
    return { refreshToken: token, scope: row.scopes, client: { id: row.client_id }, user };
  },
  async revokeToken({ refreshToken }) {
    return (await run('retireOnce', [sha256(refreshToken)])).length === 1;
  },
  async saveToken(token, client, user) {
    const access = sha256(token.accessToken);
    if (token.refreshToken) {
      await run('insertRefreshToken', [sha256(token.refreshToken), user.grantId]);
      await run('insertGrantToken', [access, client.id, user.grantId, token.scope]);
    } else await run('insertClientToken', [access, client.id, token.scope]);
    return { ...token, client, user };
  },
};

const oauth = new OAuth2Server({ model, accessTokenLifetime: 36_000, refreshTokenLifetime: 30 * DAY_S });

async function tokenAnswer(request) {
  const { method, headers } = request;
  const body = Object.fromEntries(await formOf(request));
  const response = new OAuth2Server.Response();
  await oauth.token(new OAuth2Server.Request({ method, headers, query: {}, body }), response);
  return response.body;
}

serve({ 'POST /o/token': tokenAnswer, 'GET /health/ready': () => ({}) }, () => pool.end());
