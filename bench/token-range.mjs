import { CLIENTS, id, SCOPES } from './setting.mjs';

const CHUNK = 250_000;

/**
 * Live tokens of users, numbered from 1: one for each generation of a grant, several grants for each user. The floor has a row
 * for each grant, its refresh token and each access token; the service has one row for each grant. The floor's tokens have names
 * that pgbench can compute too.
 */
export class TokenRange {
  /** `grants` and `users` are counts, `firstGrant` and `firstUser` their first numbers. */
  constructor({ name, tokens, grants, firstGrant, users, firstUser }) {
    Object.assign(this, { name, tokens, grants, firstGrant, users, firstUser });
  }

  /** In SQL, the number of the user of token `n`. */
  userOf(n) {
    return `${this.firstUser} + mod(mod(${n} - 1, ${this.grants}), ${this.users})`;
  }

  /** In SQL, the digest that the floor stores for token `n`. */
  floorDigest(n, kind = 'access') {
    return `sha256(('${this.#floorName(kind)}' || ${n})::bytea)`;
  }

  /** Token `n` as each side knows it, and its user and client. */
  token(n, signer) {
    const place = (n - 1) % this.grants;
    const user = this.firstUser + (place % this.users);
    const [grantId, userId, clientId] = [
      id('grnt', this.firstGrant + place),
      id('user', user),
      id('clnt', clientOf(user)),
    ];
    const generation = Math.floor((n - 1) / this.grants);
    return {
      floor: `${this.#floorName('access')}${n}`,
      ours: signer.ofUser({ grantId, generation, userId, clientId }),
      user: { id: userId, client: { id: clientId } },
      numbers: { user, client: clientOf(user) },
    };
  }

  /** Inserts users, consents, grants and the floor's tokens; `told` is called with the number of tokens so far. */
  async fill(connection, told = () => undefined) {
    await addUsers(connection, this.firstUser, this.users);
    await connection.query(
      `INSERT INTO consents (client_id, user_id, scopes)
       SELECT ${idSql('clnt', clientSql('n'))}, ${idSql('user', 'n')}, $3 FROM generate_series($1::int, $2::int) n`,
      [this.firstUser, this.firstUser + this.users - 1, SCOPES],
    );
    await inChunks(this.grants, (from, to) => this.#fillGrants(connection, from, to));
    await inChunks(this.tokens, async (from, to) => {
      await connection.query(
        `INSERT INTO floor.access_tokens (digest, client_id, grant_id, scopes, expires_at)
         SELECT ${this.floorDigest('n')}, ${idSql('clnt', clientSql(`(${this.userOf('n')})`))},
                ${idSql('grnt', `${this.firstGrant} + (n - 1) % ${this.grants}`)}, $3, now() + interval '10 hours'
           FROM generate_series($1::int, $2::int) n`,
        [from, to, SCOPES],
      );
      told(to);
    });
  }

  async #fillGrants(connection, from, to) {
    const values = [from, to, SCOPES];
    const columns = `${idSql('grnt', `${this.firstGrant} + n - 1`)}, ${idSql('clnt', clientSql(`(${this.userOf('n')})`))},
                ${idSql('user', this.userOf('n'))}, $3, now() + interval '360 days'`;
    await connection.query(
      `INSERT INTO floor.grants (id, client_id, user_id, scopes, expires_at)
       SELECT ${columns} FROM generate_series($1::int, $2::int) n`,
      values,
    );
    await connection.query(
      `INSERT INTO floor.refresh_tokens (digest, grant_id, expires_at)
       SELECT ${this.floorDigest('n', 'refresh')}, ${idSql('grnt', `${this.firstGrant} + n - 1`)}, now() + interval '30 days'
         FROM generate_series($1::int, $2::int) n`,
      [from, to],
    );
    await connection.query(
      `INSERT INTO grants (id, client_id, user_id, scopes, expires_at, generation, token_key_id, token_era, token_position,
                           access_expires_at, refresh_expires_at, look_again_at)
       SELECT ${columns}, (${this.tokens} - n) / ${this.grants}, 0, 0, 0,
              now() + interval '10 hours', now() + interval '30 days', now() + interval '30 days'
         FROM generate_series($1::int, $2::int) n`,
      values,
    );
  }

  #floorName(kind) {
    return `${this.name}-${kind}-token-of-the-conventional-program-`;
  }
}

const clientOf = (user) => ((user - 1) % CLIENTS) + 1;
const clientSql = (user) => `(${user} - 1) % ${CLIENTS} + 1`;
const idSql = (prefix, number) => `'${prefix}' || lpad((${number})::text, 26, '0')`;

/** Inserts users, numbered from `from`. */
async function addUsers(connection, from, count) {
  await connection.query(
    `INSERT INTO users (id, email, email_key, name, kind, role)
     SELECT 'user' || lpad(n::text, 26, '0'), 'user' || n || '@bench.example', 'user' || n || '@bench.example',
            'User ' || n, 'individual', 'user'
       FROM generate_series($1::int, $1::int + $2::int - 1) n`,
    [from, count],
  );
}

async function inChunks(count, work) {
  for (let from = 1; from <= count; from += CHUNK) await work(from, Math.min(count, from + CHUNK - 1));
}
