import { addUsers, SCOPES, USERS } from '../setting.mjs';

const CHUNK = 250_000;
// Of the tokens so many came of a grant, each with its refresh token; the others are client credentials'.
const GRANT_SHARE = 0.4;
const MORE_USERS = 20_000;
const FIRST_GRANT = 100_000_000;

/**
 * W6: fills the tables up to so many live tokens, in the random order of their digests as they would have come.
 * Foreign keys are not looked at meanwhile; what is written keeps them. Gives what came of it, in words.
 */
export async function fillTables({ database: { pool, query } }, { options: { rows }, say }) {
  const begun = performance.now();
  const connection = await pool.connect();
  try {
    await connection.query('SET session_replication_role = replica');
    await addUsers(connection, USERS + 1, MORE_USERS);
    await connection.query(
      `INSERT INTO consents (client_id, user_id, scopes)
       SELECT 'clnt' || lpad((n % 20 + 1)::text, 26, '0'), 'user' || lpad(n::text, 26, '0'), $3
         FROM generate_series($1::int, $1::int + $2::int - 1) n`,
      [USERS + 1, MORE_USERS, SCOPES],
    );
    for (let from = 1; from <= rows; from += CHUNK) {
      const to = Math.min(rows, from + CHUNK - 1);
      await fillChunk(connection, from, to);
      say(`  ${to.toLocaleString('en-GB')} rows after ${secondsSince(begun)} s`);
    }
  } finally {
    await connection.query('RESET session_replication_role');
    connection.release();
  }
  await query('VACUUM ANALYZE');
  await query('CHECKPOINT');
  const count = async (table) =>
    Number((await query(`SELECT count(*) FROM ${table}`))[0].count).toLocaleString('en-GB');
  return (
    `filled in ${secondsSince(begun)} s: ${await count('access_tokens')} access tokens, ` +
    `${await count('grants')} grants, ${await count('refresh_tokens')} refresh tokens`
  );
}

async function fillChunk(connection, from, to) {
  const grants = Math.round((to - from + 1) * GRANT_SHARE);
  const grantOf = (n) => `'grnt' || lpad((${FIRST_GRANT} + ${n})::text, 26, '0')`;
  const userOf = (n) => `${USERS + 1} + ${n} % ${MORE_USERS}`;
  const clientOf = (n) => `'clnt' || lpad(((${n}) % 20 + 1)::text, 26, '0')`;
  await connection.query(
    `INSERT INTO grants (id, client_id, user_id, scopes, expires_at)
     SELECT ${grantOf('n')}, ${clientOf(userOf('n'))}, 'user' || lpad((${userOf('n')})::text, 26, '0'), $3,
            now() + interval '300 days' + random() * interval '60 days'
       FROM generate_series($1::int, $2::int) n`,
    [from, from + grants - 1, SCOPES],
  );
  await connection.query(
    `INSERT INTO refresh_tokens (digest, grant_id, expires_at)
     SELECT sha256(('large-refresh-' || n)::bytea), ${grantOf('n')}, now() + interval '20 days' + random() * interval '10 days'
       FROM generate_series($1::int, $2::int) n`,
    [from, from + grants - 1],
  );
  await connection.query(
    `INSERT INTO access_tokens (digest, client_id, grant_id, scopes, expires_at)
     SELECT sha256(('large-' || n)::bytea),
            CASE WHEN n < $1::int + $4::int THEN ${clientOf(userOf('n'))} ELSE ${clientOf('n')} END,
            CASE WHEN n < $1::int + $4::int THEN ${grantOf('n')} END,
            $3, now() + interval '2 hours' + random() * interval '8 hours'
       FROM generate_series($1::int, $2::int) n`,
    [from, to, SCOPES, grants],
  );
}

function secondsSince(begun) {
  return Math.round((performance.now() - begun) / 1000);
}
