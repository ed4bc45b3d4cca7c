import { createHash, randomBytes } from 'node:crypto';
import { load } from '../dist.mjs';
import { basic, expect, post } from '../http-text.mjs';
import { CONNECTIONS } from '../load.mjs';
import { NEW_DIGEST, SCOPES_SQL } from '../pgbench.mjs';
import { REDIRECT_URI, SCOPES } from '../setting.mjs';
import { checkTokens } from './tokens.mjs';

// More than any side can exchange; running out of codes is an error.
const CODES_PER_SECOND = 4_000;
const CODE_CLIENT = `'clnt' || lpad((:client_id % 20 + 1)::text, 26, '0')`;

/** W4: exchanging codes for tokens, with PKCE; the codes are inserted beforehand, as the authorization page would. */
export const codeExchange = {
  id: 'W4',
  name: 'code exchange',
  /** A code works only once: each round gets its own. */
  renew: true,
  prepare: async (setting, { database: { query }, side, seconds }) => {
    const table = side === 'floor' ? 'floor.authorization_codes' : 'public.authorization_codes';
    const codes = await newCodes(setting, query, table, Math.ceil(seconds * CODES_PER_SECOND));
    return (n) => {
      let next = n;
      return {
        request: () => {
          expect(next < codes.length, `more than ${CODES_PER_SECOND} exchanges a second: the codes ran out`);
          const { code, verifier, client } = codes[next];
          next += CONNECTIONS;
          const form = new URLSearchParams({
            ...{ grant_type: 'authorization_code', redirect_uri: REDIRECT_URI },
            ...{ code, code_verifier: verifier },
          });
          return post('/o/token', basic(client), form.toString());
        },
        check: (status, body) =>
          expect(checkTokens(status, body).refresh_token?.length >= 43, 'refresh_token'),
      };
    };
  },
  pgbench: {
    setup: ({ query }, _setting, run, seconds) =>
      query(
        `INSERT INTO floor.authorization_codes (digest, client_id, user_id, redirect_uri, scopes, code_challenge, expires_at)
         SELECT sha256(($1 || '-' || connection || '-' || n)::bytea), k.client_id, k.user_id, $2, k.scopes, $3,
                now() + interval '10 minutes'
           FROM generate_series(0, $4::int - 1) connection, generate_series(1, $5::int) n,
                (SELECT DISTINCT ON (client_id) client_id, user_id, scopes FROM consents) k
          WHERE k.client_id = 'clnt' || lpad((connection % 20 + 1)::text, 26, '0')`,
        [
          run,
          REDIRECT_URI,
          'c'.repeat(43),
          CONNECTIONS,
          Math.ceil((seconds * CODES_PER_SECOND) / CONNECTIONS),
        ],
      ),
    script: ({ say, run }) => {
      const code = `sha256(('${run}-' || :client_id || '-' || :k)::bytea)`;
      const newest = `sha256(('${run}-refresh-' || :client_id || '-' || :k)::bytea)`;
      const number = run.replace(/\D/g, '');
      const grant = `'grnt' || lpad('${number}0' || lpad(:client_id::text, 2, '0') || lpad(:k::text, 8, '0'), 26, '9')`;
      return [
        `\\set k :k + 1`,
        say('client', CODE_CLIENT),
        'BEGIN;',
        `${say('code', code, CODE_CLIENT).slice(0, -1)} \\gset`,
        say('insertGrant', grant, CODE_CLIENT, ':user_id', SCOPES_SQL),
        say('consume', code, grant),
        say('insertRefreshToken', newest, grant),
        say('insertGrantToken', NEW_DIGEST, CODE_CLIENT, grant, SCOPES_SQL),
        'COMMIT;',
      ];
    },
  },
};

/** Rows as src/access/tokens/codes/authorization-codes.repository.ts writes them; they live long enough for the round. */
async function newCodes({ users }, query, table, count) {
  const { newSecret, digestOf } = await load('platform/secrets/tokens.js');
  const codes = Array.from({ length: count }, (_, n) => {
    const user = users[n % users.length];
    const verifier = randomBytes(32).toString('base64url');
    return { code: newSecret('authorizationCode'), verifier, client: user.client, userId: user.id };
  });
  await query(
    `INSERT INTO ${table} (digest, client_id, user_id, redirect_uri, scopes, code_challenge, expires_at)
     SELECT digest, client_id, user_id, $5, $6, challenge, now() + interval '10 minutes'
       FROM unnest($1::bytea[], $2::text[], $3::text[], $4::text[]) AS code (digest, client_id, user_id, challenge)`,
    [
      codes.map(({ code }) => digestOf(code)),
      codes.map(({ client }) => client.id),
      codes.map(({ userId }) => userId),
      codes.map(({ verifier }) => createHash('sha256').update(verifier).digest('base64url')),
      ...[REDIRECT_URI, SCOPES],
    ],
  );
  return codes;
}
