import { basic, expect, get, post } from '../http-text.mjs';
import { CLIENT_ID } from '../pgbench.mjs';
import { CONNECTIONS } from '../load.mjs';
import { SCOPES } from '../setting.mjs';

const SCOPE = SCOPES.join(' ');

/** Each connection has every 32nd token in turn, so that all are used alike. */
function overTokens(tokens, requestOf, check) {
  const requests = tokens.map(requestOf);
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

/** W2: introspection of users' tokens by a service of the company. */
export const introspection = {
  id: 'W2',
  name: 'introspection',
  must: 1.1,
  aim: 1.5,
  prepare: async ({ tokens, introspector }) =>
    overTokens(
      tokens,
      ({ secret }) => post('/o/introspect/', basic(introspector), `token=${secret}`),
      (answer, { user }) => {
        expect(answer.active === true && answer.scope === SCOPE && answer.token_type === 'Bearer', 'members');
        expect(answer.sub === user.id && answer.client_id === user.client.id, 'whose it is');
        expect(answer.exp - answer.iat === 36_000, 'times');
      },
    ),
  pgbench: {
    setup: nameTokens,
    script: ({ say }) => [
      '\\set t random(1, 10000)',
      say('client', `'clnt' || lpad('100', 26, '0')`),
      say('token', NAMED_TOKEN()),
    ],
  },
};

/** W2b: a partner asks with a user's token, and is given that one user. */
export const bearerRequest = {
  id: 'W2b',
  name: 'bearer request (GET /v2/users)',
  must: 1.1,
  aim: 1.5,
  prepare: async ({ tokens }) =>
    overTokens(
      tokens,
      ({ secret }) => get('/v2/users', secret),
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
    setup: nameTokens,
    script: ({ say }) => [
      '\\set t random(1, 10000)',
      '\\set u mod(:t - 1, 1000) + 1',
      '\\set c mod(:u - 1, 20) + 1',
      say('token', NAMED_TOKEN()),
      say('user', CLIENT_ID, `'user' || lpad(:u::text, 26, '0')`),
    ],
  },
};

function NAMED_TOKEN() {
  return `sha256(('named-' || :t::text)::bytea)`;
}

/** As many tokens again, of the same grants, with names that pgbench can make up. */
async function nameTokens({ query }) {
  await query(
    `INSERT INTO access_tokens (digest, client_id, grant_id, scopes, expires_at)
     SELECT sha256(('named-' || n)::bytea), g.client_id, g.id, g.scopes, now() + interval '10 hours'
       FROM generate_series(1, 10000) n
       JOIN grants g ON g.id = 'grnt' || lpad(((n - 1) % 1000 + 1)::text, 26, '0')
     ON CONFLICT DO NOTHING`,
  );
}
