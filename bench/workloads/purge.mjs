import { execFile } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { CORES, pinned } from '../machine.mjs';
import { startLoad } from '../load.mjs';
import { median } from '../measure.mjs';
import { serviceEnvironment } from '../servers.mjs';
import { SCOPES, USERS } from '../setting.mjs';
import { clientCredentials } from './tokens.mjs';

// The default of the service.
const RETENTION = "interval '30 days'";
const FIRST_GRANT = 900_000_000;
const LOGGED_FROM_MS = 20;
const LONGEST_MS = 100;
const WARM_UP_MS = 4_000;
// The service purges every minute; this many purges are measured, and each finds its part of the grants expired.
const PURGES = 5;
// W1 is also measured for this long before and after each purge.
const BESIDE_MS = 20_000;
const POLL_MS = 500;
// If nothing was removed for this long, the purge is over.
const OVER_MS = 2_000;
// A purge uses little of the time at first, and more once it is late (src/platform/database/purge/purge.service.ts).
const ALL_WITHIN_MS = 30 * 60_000;
const STATEMENT = /LOG: {2}duration: ([\d.]+) ms {2}(?:parse|bind|execute|statement)[^:]*: *(.*)/;
// Of the words of a statement, enough to tell what it does.
const WORDS = 500;

/**
 * W7: tokens by client credentials while the service purges grants that ended long ago. Each purge is compared with the time
 * right before and after it, because the speed of the machine drifts; the results are medians over the purges. The running
 * service begins the purges each minute; in a quick run the operator's command runs one.
 */
export async function measurePurge(stand, { options, say }) {
  const { database } = stand;
  await stand.restartService(() => addExpired(database, options, say));
  await logSlowStatements(database, LOGGED_FROM_MS);
  const connectionOf = await clientCredentials.prepare(stand.setting, { side: 'ours' });
  const load = await startLoad({ port: stand.service.port, connectionOf });
  // A wrong response ends the load, and with it the wait for the purge.
  const failed = load.done.then(() => new Promise(() => undefined));
  const besideMs = options.quick ? 1_000 : BESIDE_MS;
  const watched = async () => {
    const logged = (await stat(database.log)).size;
    const purges = await (options.quick ? purgeByOperator(stand) : purgesOnSchedule(stand, options, say));
    const statements = await slowStatements(database.log, logged);
    await pause(besideMs);
    return { purges, statements };
  };
  const { purges, statements } = await Promise.race([watched(), failed]).finally(() => load.stop());
  const { ends, begun } = await load.done;
  await logSlowStatements(database, -1);
  const left = await database.query(`SELECT 1 FROM grants WHERE expires_at < now() - ${RETENTION} LIMIT 1`);
  if (left.length > 0) throw new Error('W7: the purge left ended grants behind');
  const rateBetween = (start, end) =>
    (ends.filter((at) => at >= start && at < end).length * 1000) / (end - start);
  const measured = purges.map(({ from, to }, n) => {
    const before = rateBetween(Math.max(from - besideMs, purges[n - 1]?.to ?? begun + WARM_UP_MS), from);
    const after = rateBetween(to, Math.min(to + besideMs, purges[n + 1]?.from ?? Infinity));
    const during = rateBetween(from, to);
    return { before, during, after, keeps: (2 * during) / (before + after) };
  });
  const medianOf = (name) => median(measured.map((each) => each[name]));
  return {
    ...{ before: medianOf('before'), during: medianOf('during'), after: medianOf('after') },
    keeps: medianOf('keeps'),
    each: measured.map(({ keeps }) => keeps),
    seconds: purges.reduce((sum, { from, to }) => sum + to - from, 0) / 1000,
    rows: options.expired,
    by: options.quick ? 'the operator’s command' : 'the service itself, on its schedule',
    ...{ must: 0.9, aim: 0.95, longestAllowed: LONGEST_MS, loggedFrom: LOGGED_FROM_MS },
    ...longestOf(statements),
  };
}

/**
 * Inserts ended grants whose last codes are no longer kept; their ends differ. A part of them is due each minute, in a quick run
 * all at once.
 */
async function addExpired({ pool, query }, { expired, quick }, say) {
  const begun = performance.now();
  const minute = quick ? '0' : `1 + (n - 1) * ${PURGES} / $1`;
  const connection = await pool.connect();
  try {
    // Foreign keys are not checked; the rows satisfy them.
    await connection.query('SET session_replication_role = replica');
    await connection.query(
      `INSERT INTO grants (id, client_id, user_id, scopes, created_at, issued_at, expires_at, token_key_id, token_era,
                           token_position, access_expires_at, refresh_expires_at, look_again_at)
       SELECT 'grnt' || lpad((${FIRST_GRANT} + n)::text, 26, '0'), k.client_id, k.user_id, $2,
              at - interval '1 year', at - interval '1 year', at, 0, 0, 0, at, at, at
         FROM (SELECT n, now() - ${RETENTION} - interval '1 second'
                         + make_interval(mins => ${minute}, secs => n::float / $1) AS at
                 FROM generate_series(1, $1::int) n) each
         JOIN (SELECT client_id, user_id, row_number() OVER (ORDER BY user_id) - 1 AS place
                 FROM consents ORDER BY user_id LIMIT ${USERS}) k ON k.place = each.n % ${USERS}`,
      [expired, SCOPES],
    );
  } finally {
    await connection.query('RESET session_replication_role');
    connection.release();
  }
  await query('VACUUM ANALYZE grants');
  await query('CHECKPOINT');
  say(
    `  ${expired.toLocaleString('en-GB')} ended grants after ${Math.round((performance.now() - begun) / 1000)} s`,
  );
}

/** The begin and the end of each purge by the service itself, until everything is removed, according to its metrics. */
async function purgesOnSchedule({ service }, { expired }, say) {
  const begun = performance.now();
  const purges = [];
  let seen = 0;
  for (let polled = begun; seen < expired; await pause(POLL_MS)) {
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    const purged = Number(/^purged_rows_total\{table="grants"\} (\d+)/m.exec(metrics)?.[1] ?? 0);
    const now = performance.now();
    if (now - begun > ALL_WITHIN_MS) throw new Error(`W7: ${expired} rows were not purged in time`);
    if (purged > seen) {
      const current = purges.at(-1);
      if (current && now - current.to < OVER_MS) current.to = now;
      else say(`  purge ${purges.push({ from: polled, to: now })} has begun`);
    }
    seen = purged;
    polled = now;
  }
  return purges;
}

/** Runs the operator's command on the core of the server. */
async function purgeByOperator({ database, service }) {
  await pause(WARM_UP_MS + 1_000);
  const operator = fileURLToPath(new URL('../../dist/src/operator.js', import.meta.url));
  const [command, args] = pinned(CORES.server, process.execPath, [operator, 'purge']);
  const from = performance.now();
  await promisify(execFile)(command, args, {
    env: { ...serviceEnvironment(service.port), DATABASE_URL: database.url },
  });
  return [{ from, to: performance.now() }];
}

/** Makes PostgreSQL log statements that take at least this long, without their parameters; -1: none. */
async function logSlowStatements({ query }, milliseconds) {
  await query('ALTER SYSTEM SET log_parameter_max_length = 0');
  await query(`ALTER SYSTEM SET log_min_duration_statement = ${milliseconds}`);
  await query('SELECT pg_reload_conf()');
}

/** The statements that PostgreSQL logged as slow from this byte of its log on: their durations in milliseconds, and how they begin. */
async function slowStatements(log, from) {
  const statements = [];
  let current;
  for await (const line of createInterface({ input: createReadStream(log, { start: from }) })) {
    const [, duration, words] = STATEMENT.exec(line) ?? [];
    // Continuation lines of a statement begin with a tab.
    if (duration) statements.push((current = { duration: Number(duration), words: words.slice(0, WORDS) }));
    else if (!line.startsWith('\t')) current = undefined;
    else if (current && current.words.length < WORDS) current.words += `\n${line.slice(0, WORDS)}`;
  }
  return statements;
}

/** The longest statement of the purge and of all others; undefined where none was logged. */
function longestOf(all) {
  const longest = (which) => which.toSorted((a, b) => b.duration - a.duration)[0];
  const isPurge = ({ words }) => words.includes('DELETE FROM');
  return {
    longestPurge: longest(all.filter(isPurge)),
    longestOther: longest(all.filter((each) => !isPurge(each))),
    tooLong: all.filter(({ duration }) => duration > LONGEST_MS).length,
  };
}
