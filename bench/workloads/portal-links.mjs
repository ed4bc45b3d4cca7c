import { expect, get } from '../http-text.mjs';
import { CLIENT_ID, NAMED_CLIENT_TOKEN, nameClientTokens, NEW_DIGEST } from '../pgbench.mjs';

const LINK = /^http:\/\/127\.0\.0\.1:\d+\/portal\/login\/[\w-]{43,}$/;

/** W5: one-time links to the webhook portal, for twenty clients in turn. */
export const portalLinks = {
  id: 'W5',
  name: 'portal links',
  prepare: async ({ clientTokens }, { side }) => {
    const requests = clientTokens.map((token) => get('/webhook_portal', token[side]));
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
    setup: nameClientTokens,
    script: ({ say }) => [
      '\\set c random(1, 20)',
      say('token', NAMED_CLIENT_TOKEN),
      say('insertLink', NEW_DIGEST, CLIENT_ID),
    ],
  },
};
