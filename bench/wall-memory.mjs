/** What the wall and the frame answer from: clients and users in memory, and tokens that need no look-up. */
import { createHash, timingSafeEqual } from 'node:crypto';
import pg from 'pg';
import { Refused } from './bare-http.mjs';
import { readWallToken } from './wall-tokens.mjs';

const issuer = `http://127.0.0.1:${process.env.PORT}`;
export const numberOf = (id) => Number(id.slice(4));
const { clients, users, usersOfClients } = await readAll();

export function authenticate(id, secret) {
  const client = clients.get(numberOf(id));
  const digest = createHash('sha256').update(secret).digest();
  if (!client || !timingSafeEqual(client.digest, digest)) throw new Refused(401);
  return client;
}

export function findToken(text) {
  const token = readWallToken(text);
  if (!token) throw new Refused(401);
  return token;
}

/** The response of the introspection of a token (RFC 7662). */
export function introspected(text) {
  const { user, client, issued, expires } = findToken(text);
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
}

/** The users that a token may read, as `GET /v2/users` lists them. */
export const usersOf = ({ user, client }) =>
  user === undefined ? usersOfClients.get(client) : [users.get(user)];

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
