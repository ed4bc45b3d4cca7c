/**
 * The floor: the best conventional program for each workload, using only `node:http` and `pg`: one row for each token, and
 * statements that each connection prepares once. It has no limits, logs or metrics and no checks beyond the necessary ones. It
 * serves only as a comparison with the service.
 */
import { createHash, randomBytes } from 'node:crypto';
import pg from 'pg';
import { basicOf, bearerOf, formOf, Refused, serve, textOf, tokenAnswer } from './bare-http.mjs';
import { postAll } from './delivery-queue.mjs';
import { FLOOR_SEARCH_PATH } from './floor-tables.mjs';
import { STATEMENTS } from './statements.mjs';

const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL,
  // The default of the service (DATABASE_POOL_SIZE).
  max: 20,
  options: FLOOR_SEARCH_PATH,
});
const issuer = `http://127.0.0.1:${process.env.PORT}`;

const sha256 = (text) => createHash('sha256').update(text).digest();
const newSecret = () => randomBytes(32).toString('base64url');
const newGrantId = () => `grnt${randomBytes(13).toString('hex').toUpperCase()}`;
const seconds = (time) => Math.floor(time.getTime() / 1000);

/** Runs one of the statements; each connection prepares it on first use. `on` is a connection, or the pool. */
const run = async (name, values, on = pool) =>
  (await on.query({ name, text: STATEMENTS[name], values })).rows;

const ROUTES = {
  'POST /o/token': async (request) => {
    const form = await formOf(request);
    const client = await authenticate(request);
    return GRANTS[form.get('grant_type')](client, form);
  },
  'POST /o/introspect/': async (request) => {
    const form = await formOf(request);
    await authenticate(request);
    const token = await findToken(form.get('token'));
    return {
      active: true,
      scope: token.scopes.join(' '),
      client_id: token.client_id,
      sub: token.user_id ?? token.client_id,
      token_type: 'Bearer',
      exp: seconds(token.expires_at),
      iat: seconds(token.created_at),
      iss: issuer,
    };
  },
  'GET /v2/users': async (request) => {
    const token = await findToken(bearerOf(request));
    if (token.user_id === null) return (await run('users', [token.client_id])).slice(0, 25).map(userView);
    const users = await run('user', [token.client_id, token.user_id]);
    return users.map((user) => ({ ...userView(user), email: user.email, name: user.name }));
  },
  'GET /webhook_portal': async (request) => {
    const token = await findToken(bearerOf(request));
    const key = newSecret();
    await run('insertLink', [sha256(key), token.client_id]);
    return { url: `${issuer}/portal/login/${key}` };
  },
  /** Only posts bodies: the destination and the number are in the request. */
  'POST /deliveries': async (request) => {
    await postAll(JSON.parse(await textOf(request)));
    return {};
  },
  'GET /health/ready': async () => ({}),
};

const GRANTS = {
  client_credentials: async (client) => {
    const accessToken = newSecret();
    await run('insertClientToken', [sha256(accessToken), client.id, client.scopes]);
    return tokenAnswer(accessToken, client.scopes);
  },
  refresh_token: (client, form) =>
    inTransaction(async (connection) => {
      const digest = sha256(form.get('refresh_token'));
      const [family] = await run('refreshToken', [digest, client.id], connection);
      if (!family) throw new Refused(400);
      const [accessToken, refreshToken] = [newSecret(), newSecret()];
      const refreshDigest = sha256(refreshToken);
      await run('retire', [digest, refreshDigest], connection);
      await run('insertRefreshToken', [refreshDigest, family.grant_id], connection);
      const access = [sha256(accessToken), client.id, family.grant_id, family.scopes];
      await run('insertGrantToken', access, connection);
      return { ...tokenAnswer(accessToken, family.scopes), refresh_token: refreshToken };
    }),
  authorization_code: (client, form) =>
    inTransaction(async (connection) => {
      const digest = sha256(form.get('code'));
      const [code] = await run('code', [digest, client.id], connection);
      const isRight =
        code?.redirect_uri === form.get('redirect_uri') &&
        code.code_challenge === sha256(form.get('code_verifier')).toString('base64url');
      if (!isRight) throw new Refused(400);
      const [accessToken, refreshToken, grantId] = [newSecret(), newSecret(), newGrantId()];
      await run('insertGrant', [grantId, client.id, code.user_id, code.scopes], connection);
      await run('consume', [digest, grantId], connection);
      await run('insertRefreshToken', [sha256(refreshToken), grantId], connection);
      await run('insertGrantToken', [sha256(accessToken), client.id, grantId, code.scopes], connection);
      return { ...tokenAnswer(accessToken, code.scopes), refresh_token: refreshToken };
    }),
};

async function authenticate(request) {
  const [id, secret] = basicOf(request);
  const rows = await run('client', [id]);
  const digest = sha256(secret);
  if (!rows.some((row) => row.digest.equals(digest))) throw new Refused(401);
  return { id, scopes: rows[0].scopes };
}

async function findToken(secret) {
  const [token] = await run('token', [sha256(secret)]);
  if (!token) throw new Refused(401);
  return token;
}

const userView = ({ id, scopes, granted_at }) => ({
  id,
  url: `${issuer}/v2/users/${id}`,
  scopes,
  consented_at: granted_at.toISOString(),
});

async function inTransaction(work) {
  const connection = await pool.connect();
  try {
    await connection.query('BEGIN');
    const result = await work(connection);
    await connection.query('COMMIT');
    return result;
  } catch (error) {
    await connection.query('ROLLBACK');
    throw error;
  } finally {
    connection.release();
  }
}

serve(ROUTES, () => pool.end());
