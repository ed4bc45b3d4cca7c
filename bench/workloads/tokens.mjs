import { basic, expect, post } from '../http-text.mjs';
import { SCOPES } from '../setting.mjs';
import { CLIENT_ID, NEW_DIGEST, SCOPES_SQL } from '../pgbench.mjs';

const SCOPE = SCOPES.join(' ');

/** Returns the members of a token response; throws if the response is anything else. */
export function checkTokens(status, body) {
  expect(status === 200, 'status');
  const answer = JSON.parse(body);
  expect(answer.access_token?.length >= 43, 'access_token');
  // oauth2-server counts from a time that has passed.
  const isLifeRight = [36_000, 35_999].includes(answer.expires_in);
  expect(isLifeRight && answer.token_type === 'Bearer' && answer.scope === SCOPE, 'members');
  return answer;
}

/** W1: tokens by client credentials, for twenty clients in turn. */
export const clientCredentials = {
  id: 'W1',
  name: 'client-credentials tokens',
  must: 1.5,
  aim: 2,
  wall: { must: 2.2, aim: 1.6 },
  peers: ['oidc-provider', 'oauth2-server'],
  prepare: async ({ clients }, { side }) => {
    // Without a scope in the request oidc-provider gives none.
    const scope = side === 'oidc-provider' ? `&scope=${encodeURIComponent(SCOPE)}` : '';
    const requests = clients.map((client) =>
      post('/o/token', basic(client), `grant_type=client_credentials${scope}`),
    );
    return (n) => {
      let next = n;
      return {
        request: () => requests[next++ % requests.length],
        check: (status, body) => {
          const answer = checkTokens(status, body);
          expect(answer.refresh_token === undefined, 'refresh_token');
        },
      };
    };
  },
  pgbench: {
    script: ({ say }) => [
      '\\set c random(1, 20)',
      say('client', CLIENT_ID),
      say('insertClientToken', NEW_DIGEST, CLIENT_ID, SCOPES_SQL),
    ],
  },
};
