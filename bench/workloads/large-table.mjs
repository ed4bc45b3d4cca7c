import { USERS } from '../setting.mjs';
import { TokenRange } from '../token-range.mjs';

/** Grants per live token and users per grant: a grant has two or three live tokens, a user ten grants. */
const GRANTS_OF_TOKENS = 0.4;
const USERS_OF_GRANTS = 0.1;
const FIRST_GRANT = 100_000_000;
/** The number of tokens drawn at random for a run: ten times what an instance may cache. */
const DRAWN = 200_000;

/**
 * W6: fills the tables up to the requested number of live tokens, in random order of the floor's digests, as real traffic would,
 * and makes the workloads use tokens drawn at random. Foreign keys are not checked in the meantime; the rows satisfy them. Returns a
 * sentence about the result.
 */
export async function fillTables({ database: { pool, query }, setting }, { options: { rows }, say }) {
  const begun = performance.now();
  const grants = Math.ceil(rows * GRANTS_OF_TOKENS);
  const range = new TokenRange({
    ...{ name: 'large', tokens: rows, firstGrant: FIRST_GRANT, grants },
    ...{ firstUser: USERS + 1, users: Math.ceil(grants * USERS_OF_GRANTS) },
  });
  const connection = await pool.connect();
  try {
    await connection.query('SET session_replication_role = replica');
    await range.fill(connection, (to) =>
      say(`  ${to.toLocaleString('en-GB')} tokens after ${secondsSince(begun)} s`),
    );
  } finally {
    await connection.query('RESET session_replication_role');
    connection.release();
  }
  await query('VACUUM ANALYZE');
  await query('CHECKPOINT');
  setting.range = range;
  setting.tokens = Array.from({ length: Math.min(rows, DRAWN) }, () =>
    range.token(1 + Math.floor(Math.random() * rows), setting.signer),
  );
  const numbers = [rows, grants, range.users, setting.tokens.length].map((n) => n.toLocaleString('en-GB'));
  return (
    `filled in ${secondsSince(begun)} s: ${numbers[0]} live access tokens of ${numbers[1]} grants of ${numbers[2]} users ` +
    `(rows of the floor; the service has only the grants), of which ${numbers[3]} drawn at random are used in turn`
  );
}

function secondsSince(begun) {
  return Math.round((performance.now() - begun) / 1000);
}
