import { expect, get } from '../http-text.mjs';
import { CLIENT_ID, NEW_DIGEST } from '../pgbench.mjs';

const LINK = /^http:\/\/127\.0\.0\.1:\d+\/portal\/login\/[\w-]{43,}$/;

/** W5: one-time links to the webhook portal, for twenty clients in turn. */
export const portalLinks = {
  id: 'W5',
  name: 'portal links',
  prepare: async ({ clientTokens }) => {
    const requests = clientTokens.map(({ secret }) => get('/webhook_portal', secret));
    return (n) => {
      let next = n;
      let before;
      return {
        request: () => requests[next++ % requests.length],
        check: (status, body) => {
          expect(status === 200, 'status');
          const { url } = JSON.parse(body);
          expect(LINK.test(url) && url !== before, 'url');
          before = url;
        },
      };
    };
  },
  pgbench: {
    setup: ({ query }) =>
      query(
        `INSERT INTO access_tokens (digest, client_id, scopes, expires_at)
         SELECT sha256(('client-' || n)::bytea), 'clnt' || lpad(n::text, 26, '0'), '{vehicle:read}', now() + interval '10 hours'
           FROM generate_series(1, 20) n ON CONFLICT DO NOTHING`,
      ),
    script: ({ say }) => [
      '\\set c random(1, 20)',
      say('token', `sha256(('client-' || :c::text)::bytea)`),
      say('insertLink', NEW_DIGEST, CLIENT_ID),
    ],
  },
};
