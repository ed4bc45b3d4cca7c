/**
 * The floor: what each workload costs at the least over bare `node:http` and `pg`, statement by statement. No limits, logs,
 * metrics or checks beyond the need. It is measured beside the service, and is good for nothing else.
 */
import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import pg from 'pg';
import { postAll } from './delivery-queue.mjs';
import { STATEMENTS } from './statements.mjs';

// As many as the service has by default (DATABASE_POOL_SIZE).
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 20 });
const issuer = `http://127.0.0.1:${process.env.PORT}`;

const sha256 = (text) => createHash('sha256').update(text).digest();
const newSecret = () => randomBytes(32).toString('base64url');
const newGrantId = () => `grnt${randomBytes(13).toString('hex').toUpperCase()}`;
const seconds = (time) => Math.floor(time.getTime() / 1000);

class Refused extends Error {
  constructor(status) {
    super();
    this.status = status;
  }
}

const ROUTES = {
  'POST /o/token': async (request) => {
    const form = new URLSearchParams(await bodyOf(request));
    const client = await authenticate(request);
    return GRANTS[form.get('grant_type')](client, form);
  },
  'POST /o/introspect/': async (request) => {
    const form = new URLSearchParams(await bodyOf(request));
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
    const { rows } = await pool.query(STATEMENTS.user, [token.client_id, token.user_id]);
    return rows.map((user) => ({
      id: user.id,
      url: `${issuer}/v2/users/${user.id}`,
      email: user.email,
      name: user.name,
      scopes: user.scopes,
      consented_at: user.granted_at.toISOString(),
    }));
  },
  'GET /webhook_portal': async (request) => {
    const token = await findToken(bearerOf(request));
    const key = newSecret();
    await pool.query(STATEMENTS.insertLink, [sha256(key), token.client_id]);
    return { url: `${issuer}/portal/login/${key}` };
  },
  /** What delivers nothing but bodies: where to, and how many. */
  'POST /deliveries': async (request) => {
    await postAll(JSON.parse(await bodyOf(request)));
    return {};
  },
  'GET /health/ready': async () => ({}),
};

const GRANTS = {
  client_credentials: async (client) => {
    const accessToken = newSecret();
    await pool.query(STATEMENTS.insertClientToken, [sha256(accessToken), client.id, client.scopes]);
    return tokenAnswer(accessToken, client.scopes);
  },
  refresh_token: (client, form) =>
    inTransaction(async (connection) => {
      const digest = sha256(form.get('refresh_token'));
      const [family] = (await connection.query(STATEMENTS.refreshToken, [digest, client.id])).rows;
      if (!family) throw new Refused(400);
      const [accessToken, refreshToken] = [newSecret(), newSecret()];
      const refreshDigest = sha256(refreshToken);
      await connection.query(STATEMENTS.retire, [digest, refreshDigest]);
      await connection.query(STATEMENTS.insertRefreshToken, [refreshDigest, family.grant_id]);
      await connection.query(STATEMENTS.insertGrantToken, [
        ...[sha256(accessToken), client.id, family.grant_id, family.scopes],
      ]);
      return { ...tokenAnswer(accessToken, family.scopes), refresh_token: refreshToken };
    }),
  authorization_code: (client, form) =>
    inTransaction(async (connection) => {
      const digest = sha256(form.get('code'));
      const [code] = (await connection.query(STATEMENTS.code, [digest, client.id])).rows;
      const isRight =
        code?.redirect_uri === form.get('redirect_uri') &&
        code.code_challenge === sha256(form.get('code_verifier')).toString('base64url');
      if (!isRight) throw new Refused(400);
      const [accessToken, refreshToken, grantId] = [newSecret(), newSecret(), newGrantId()];
      await connection.query(STATEMENTS.insertGrant, [grantId, client.id, code.user_id, code.scopes]);
      await connection.query(STATEMENTS.consume, [digest, grantId]);
      await connection.query(STATEMENTS.insertRefreshToken, [sha256(refreshToken), grantId]);
      await connection.query(STATEMENTS.insertGrantToken, [
        sha256(accessToken),
        client.id,
        grantId,
        code.scopes,
      ]);
      return { ...tokenAnswer(accessToken, code.scopes), refresh_token: refreshToken };
    }),
};

async function authenticate(request) {
  const [id, secret] = Buffer.from(request.headers.authorization.slice(6), 'base64').toString().split(':');
  const { rows } = await pool.query(STATEMENTS.client, [decodeURIComponent(id)]);
  const digest = sha256(decodeURIComponent(secret));
  if (!rows.some((row) => row.digest.equals(digest))) throw new Refused(401);
  return { id, scopes: rows[0].scopes };
}

async function findToken(secret) {
  const { rows } = await pool.query(STATEMENTS.token, [sha256(secret)]);
  if (rows.length === 0) throw new Refused(401);
  return rows[0];
}

function tokenAnswer(accessToken, scopes) {
  return { access_token: accessToken, expires_in: 36_000, token_type: 'Bearer', scope: scopes.join(' ') };
}

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

function bearerOf(request) {
  return request.headers.authorization.slice('Bearer '.length);
}

function bodyOf(request) {
  return new Promise((resolve, reject) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (chunk) => (text += chunk));
    request.on('end', () => resolve(text));
    request.on('error', reject);
  });
}

function answer(response, status, content) {
  const body = JSON.stringify(content);
  const length = Buffer.byteLength(body);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': length }).end(body);
}

const server = createServer((request, response) => {
  ROUTES[`${request.method} ${request.url}`](request).then(
    (content) => answer(response, 200, content),
    (error) => answer(response, error.status ?? 500, { error: error.message }),
  );
});
server.listen(Number(process.env.PORT), '127.0.0.1');
process.once('SIGTERM', () => {
  server.close(() => void pool.end());
  server.closeAllConnections();
});
