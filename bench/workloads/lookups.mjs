import { basic, expect, get, post } from '../http-text.mjs';
import { CLIENT_ID, NAMED_CLIENT_TOKEN, nameClientTokens } from '../pgbench.mjs';
import { CONNECTIONS } from '../load.mjs';
import { peerTokens } from '../servers.mjs';
import { SCOPES } from '../setting.mjs';

const SCOPE = SCOPES.join(' ');
// The page size of the contract's default.
const PAGE = 25;

/** Each connection takes every 32nd token in turn, so that all are used alike; `requestOf` gets the side's text of the token. */
function overTokens(tokens, side, requestOf, check) {
  const requests = tokens.map((token) => requestOf(token[side]));
  return (n) => {
    let [next, asked] = [n % tokens.length, 0];
    return {
      request: () => {
        asked = next;
        next = (next + CONNECTIONS) % tokens.length;
        return requests[asked];
      },
      check: (status, body) => {
        expect(status === 200, 'status');
        check(JSON.parse(body), tokens[asked]);
      },
    };
  };
}

/** The same, with the texts that another program has made for them. */
async function ofPeer(server, tokens) {
  const asked = tokens.map(({ user }) => ({
    kind: 'AccessToken',
    userId: user.id,
    clientId: user.client.id,
  }));
  const texts = await peerTokens(server, asked);
  return tokens.map((token, n) => ({ ...token, [server.name]: texts[n] }));
}

/** W2: a service of the company introspects users' tokens. */
export const introspection = {
  id: 'W2',
  name: 'introspection',
  must: 1.4,
  aim: 2,
  // Processor time per request, as a multiple of the wall's.
  wall: { must: 2, aim: 1.5 },
  peers: ['oidc-provider'],
  prepare: async ({ tokens, introspector }, { side, server }) =>
    overTokens(
      side === 'oidc-provider' ? await ofPeer(server, tokens) : tokens,
      side,
      (token) => post('/o/introspect/', basic(introspector), `token=${token}`),
      (answer, { user }) => {
        expect(answer.active === true && answer.scope === SCOPE && answer.token_type === 'Bearer', 'members');
        expect(answer.sub === user.id && answer.client_id === user.client.id, 'whose it is');
        expect(answer.exp - answer.iat === 36_000, 'times');
      },
    ),
  pgbench: {
    script: ({ say, setting: { range } }) => [
      `\\set t random(1, ${range.tokens})`,
      say('client', `'clnt' || lpad('100', 26, '0')`),
      say('token', range.floorDigest(':t')),
    ],
  },
};

/** W2b: a partner reads one user with that user's token. */
export const bearerRequest = {
  id: 'W2b',
  name: 'GET /v2/users, users’ tokens',
  must: 1,
  aim: 1.3,
  wall: {},
  prepare: async ({ tokens }, { side }) =>
    overTokens(
      tokens,
      side,
      (token) => get('/v2/users', token),
      ([user, ...others], { user: { id } }) => {
        expect(others.length === 0 && user?.id === id, 'which user');
        expect(
          user.url.endsWith(`/v2/users/${id}`) && user.email.includes('@') && user.name !== '',
          'members',
        );
        expect(user.scopes.join(' ') === SCOPE && !Number.isNaN(Date.parse(user.consented_at)), 'consent');
      },
    ),
  pgbench: {
    script: ({ say, setting: { range } }) => [
      `\\set t random(1, ${range.tokens})`,
      `\\set u ${range.userOf(':t')}`,
      '\\set c mod(:u - 1, 20) + 1',
      say('token', range.floorDigest(':t')),
      say('user', CLIENT_ID, `'user' || lpad(:u::text, 26, '0')`),
    ],
  },
};

/** W2c: a partner lists the first page of the users who consented, with a token of its own. */
export const bearerList = {
  id: 'W2c',
  name: 'GET /v2/users, clients’ tokens',
  must: 1,
  aim: 1.3,
  wall: {},
  prepare: async ({ clientTokens, users }, { side }) =>
    overTokens(
      clientTokens,
      side,
      (token) => get('/v2/users', token),
      (page, { client }) => {
        const own = users.filter((user) => user.client === client).map(({ id }) => id);
        const right = page.every(({ id, scopes }, n) => id === own[n] && scopes.join(' ') === SCOPE);
        expect(page.length === Math.min(PAGE, own.length) && right, 'which users');
      },
    ),
  pgbench: {
    setup: nameClientTokens,
    script: ({ say }) => ['\\set c random(1, 20)', say('token', NAMED_CLIENT_TOKEN), say('users', CLIENT_ID)],
  },
};
