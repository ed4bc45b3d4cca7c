/**
 * The wall: the lower bound for any service on Node.js. Bare `node:http` that parses the request, computes the digest of a secret
 * or the MAC of a token, and answers from memory: it stores nothing, queries no database and cannot revoke anything.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import pg from 'pg';
import { basicOf, bearerOf, formOf, Refused, serve, tokenAnswer } from './bare-http.mjs';
import { newWallToken, readWallToken } from './wall-tokens.mjs';

const issuer = `http://127.0.0.1:${process.env.PORT}`;
const numberOf = (id) => Number(id.slice(4));
const { clients, users, usersOfClients } = await readAll();

serve({
  'POST /o/token': async (request) => {
    const form = await formOf(request);
    const client = authenticate(request);
    if (form.get('grant_type') !== 'client_credentials') throw new Refused(400);
    return tokenAnswer(newWallToken({ client: numberOf(client.id) }), client.scopes);
  },
  'POST /o/introspect/': async (request) => {
    const form = await formOf(request);
    authenticate(request);
    const { user, client, issued, expires } = findToken(form.get('token'));
    return {
      active: true,
      scope: clients.get(client).scopes.join(' '),
      client_id: clients.get(client).id,
      sub: (user === undefined ? clients.get(client) : users.get(user)).id,
      token_type: 'Bearer',
      exp: expires,
      iat: issued,
      iss: issuer,
    };
  },
  'GET /v2/users': (request) => {
    const { user, client } = findToken(bearerOf(request));
    if (user === undefined) return usersOfClients.get(client);
    return [users.get(user)];
  },
  'GET /health/ready': () => ({}),
});

function authenticate(request) {
  const [id, secret] = basicOf(request);
  const client = clients.get(numberOf(id));
  const digest = createHash('sha256').update(secret).digest();
  if (!client || !timingSafeEqual(client.digest, digest)) throw new Refused(401);
  return client;
}

function findToken(text) {
  const token = readWallToken(text);
  if (!token) throw new Refused(401);
  return token;
}

/** Every client and user, by the number in its id, and the first page of each client's users. */
async function readAll() {
  const connection = new pg.Client({ connectionString: process.env.DATABASE_URL });
  await connection.connect();
  const clientRows = await connection.query(
    'SELECT c.id, c.scopes, s.digest FROM clients c JOIN client_secrets s ON s.client_id = c.id',
  );
  const userRows = await connection.query(
    `SELECT u.id, u.email, u.name, k.client_id, k.scopes, k.granted_at
       FROM consents k JOIN users u ON u.id = k.user_id ORDER BY u.id`,
  );
  await connection.end();
  const views = userRows.rows.map(({ id, email, name, client_id, scopes, granted_at }) => {
    const listed = { id, url: `${issuer}/v2/users/${id}`, scopes, consented_at: granted_at.toISOString() };
    return { client: numberOf(client_id), listed, own: { ...listed, email, name } };
  });
  const pageOf = (client) =>
    views
      .filter((each) => each.client === client)
      .slice(0, 25)
      .map(({ listed }) => listed);
  return {
    clients: new Map(clientRows.rows.map((client) => [numberOf(client.id), client])),
    users: new Map(views.map(({ own }) => [numberOf(own.id), own])),
    usersOfClients: new Map(clientRows.rows.map(({ id }) => [numberOf(id), pageOf(numberOf(id))])),
  };
}
