import { basic, expect, post } from '../http-text.mjs';
import { CONNECTIONS } from '../load.mjs';
import { NEW_DIGEST, SCOPES_SQL } from '../pgbench.mjs';
import { checkTokens } from './tokens.mjs';

const FAMILY_CLIENT = `'clnt' || lpad((:client_id % 20 + 1)::text, 26, '0')`;

/** Each connection rotates so many token families of its own in turn. */
const rotating =
  (each) =>
  async (setting, { side, server }) => {
    const families = (await setting.newFamilies(side, CONNECTIONS * each, server)).map(
      ({ secret, client }) => ({
        secret,
        client: basic(client),
      }),
    );
    return (n) => {
      const own = families.filter((_, index) => index % CONNECTIONS === n);
      let next = 0;
      return {
        request: () => {
          const { secret, client } = own[next];
          return post('/o/token', client, `grant_type=refresh_token&refresh_token=${secret}`);
        },
        check: (status, body) => {
          const { refresh_token: successor } = checkTokens(status, body);
          expect(successor?.length >= 43 && successor !== own[next].secret, 'refresh_token');
          own[next].secret = successor;
          next = (next + 1) % own.length;
        },
      };
    };
  };

/** W3: four families for each connection. */
export const refresh = {
  id: 'W3',
  name: 'refresh',
  must: 1.6,
  aim: 2.5,
  peers: ['oidc-provider', 'oauth2-server'],
  prepare: rotating(4),
  pgbench: {
    setup: async (_database, setting, run) => void (await setting.namedFamilies(run)),
    script: ({ say, run }) => [
      `\\set k :k + 1`,
      say('client', FAMILY_CLIENT),
      'BEGIN;',
      `${say('refreshToken', named(run, ':k - 1'), FAMILY_CLIENT).slice(0, -1)} \\gset`,
      say('retire', named(run, ':k - 1'), named(run, ':k')),
      say('insertRefreshToken', named(run, ':k'), ':grant_id'),
      say('insertGrantToken', NEW_DIGEST, FAMILY_CLIENT, ':grant_id', SCOPES_SQL),
      'COMMIT;',
    ],
  },
};

/** W3h: one family for each connection, so that the state of each is rewritten hundreds of times within its grace time. */
export const hotRefresh = {
  ...refresh,
  ...{
    id: 'W3h',
    name: 'refresh, 32 hot chains',
    must: 1.3,
    aim: 2,
    prepare: rotating(1),
    peers: undefined,
    pgbench: undefined,
  },
};

function named(run, k) {
  return `sha256(('${run}-' || :client_id || '-' || (${k}))::bytea)`;
}
