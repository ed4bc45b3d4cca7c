import { execFile } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { CORES, pinned } from '../machine.mjs';
import { startLoad } from '../load.mjs';
import { serviceEnvironment } from '../servers.mjs';
import { SCOPES } from '../setting.mjs';
import { clientCredentials } from './tokens.mjs';

const LOGGED_FROM_MS = 20;
const LONGEST_MS = 100;
const WARM_UP_MS = 4_000;
// The service purges every minute; a purge that has not ended by then never will in time.
const STARTS_WITHIN_MS = 90_000;
const ENDS_WITHIN_MS = 600_000;
const POLL_MS = 500;
const AFTER_MS = 45_000;
// Further lines of a statement begin with a tab.
const STATEMENT = /LOG: {2}duration: ([\d.]+) ms {2}(?:parse|bind|execute|statement)[^:]*: *(.*(?:\n\t.*)*)/g;

/**
 * W7: tokens by client credentials before, while and after the service's own purge removes what has expired, for a machine
 * may have become slower or quicker meanwhile. The purge is the
 * one that the running service begins each minute, or in a quick run the operator's command.
 */
export async function measurePurge(stand, { options, say }) {
  const { database } = stand;
  await stand.restartService(() => addExpired(database, options.expired, say));
  await logSlowStatements(database, LOGGED_FROM_MS);
  const connectionOf = await clientCredentials.prepare(stand.setting);
  const load = await startLoad({ port: stand.service.port, connectionOf });
  // A wrong answer ends the load, and with it whatever waits for the purge.
  const failed = load.done.then(() => new Promise(() => undefined));
  const watched = async () => {
    const logged = (await stat(database.log)).size;
    const purge = await (options.quick ? purgeByOperator(stand) : purgeOnSchedule(stand, options, say));
    const statements = (await readFile(database.log)).subarray(logged).toString();
    await pause(Math.min(AFTER_MS, purge.to - purge.from));
    return { ...purge, statements };
  };
  const { from, to, statements } = await Promise.race([watched(), failed]).finally(() => load.stop());
  const { ends, begun, milliseconds } = await load.done;
  await logSlowStatements(database, -1);
  const left = await database.query(
    "SELECT 1 FROM access_tokens WHERE expires_at < now() - interval '1 day' LIMIT 1",
  );
  if (left.length > 0) throw new Error('W7: the purge left expired tokens behind');
  const rateBetween = (start, end) =>
    (ends.filter((at) => at >= start && at < end).length * 1000) / (end - start);
  return {
    before: rateBetween(begun + WARM_UP_MS, from - POLL_MS),
    during: rateBetween(from, to),
    after: rateBetween(to, begun + milliseconds),
    seconds: (to - from) / 1000,
    rows: options.expired,
    by: options.quick ? 'the operator’s command' : 'the service itself, on its schedule',
    ...{ must: 0.9, aim: 0.95, longestAllowed: LONGEST_MS, loggedFrom: LOGGED_FROM_MS },
    ...longestOf(statements),
  };
}

/**
 * Tokens that expired two days ago, as the service leaves them: each for ten hours and one after the other in time. They
 * are written in one transaction, so that a purge sees all of them or none.
 */
async function addExpired({ query }, rows, say) {
  const begun = performance.now();
  await query(
    `INSERT INTO access_tokens (digest, client_id, scopes, created_at, expires_at)
     SELECT sha256(('expired-' || n)::bytea), 'clnt' || lpad((n % 20 + 1)::text, 26, '0'), $2,
            at - interval '10 hours', at
       FROM (SELECT n, now() - interval '58 hours' + n * interval '10 hours' / $1 AS at
               FROM generate_series(1, $1::int) n) each`,
    [rows, SCOPES],
  );
  await query('VACUUM ANALYZE access_tokens');
  await query('CHECKPOINT');
  say(
    `  ${rows.toLocaleString('en-GB')} expired rows after ${Math.round((performance.now() - begun) / 1000)} s`,
  );
}

/** Waits for the purge that the service begins by itself, until all has gone; what it says of itself is in its metrics. */
async function purgeOnSchedule({ service }, { expired }, say) {
  const purged = async () => {
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    return Number(/^purged_rows_total\{table="access_tokens"\} (\d+)/m.exec(metrics)?.[1] ?? 0);
  };
  const until = async (enough, withinMs) => {
    const begun = performance.now();
    while ((await purged()) < enough) {
      if (performance.now() - begun > withinMs) throw new Error(`W7: ${enough} rows were not purged in time`);
      await pause(POLL_MS);
    }
    return performance.now();
  };
  const from = await until(1, STARTS_WITHIN_MS);
  say('  the purge has begun');
  return { from, to: await until(expired, ENDS_WITHIN_MS) };
}

/** The operator's command, on the core of the server. */
async function purgeByOperator({ database, service }) {
  await pause(WARM_UP_MS + 1_000);
  const operator = fileURLToPath(new URL('../../dist/src/operator.js', import.meta.url));
  const [command, args] = pinned(CORES.server, process.execPath, [operator, 'purge']);
  const from = performance.now();
  await promisify(execFile)(command, args, {
    env: { ...serviceEnvironment(service.port), DATABASE_URL: database.url },
  });
  return { from, to: performance.now() };
}

/** PostgreSQL logs statements that took so long, without their parameters; -1: none. */
async function logSlowStatements({ query }, milliseconds) {
  await query('ALTER SYSTEM SET log_parameter_max_length = 0');
  await query(`ALTER SYSTEM SET log_min_duration_statement = ${milliseconds}`);
  await query('SELECT pg_reload_conf()');
}

/** The longest statement of the purge and of all others; undefined where none was logged. */
function longestOf(text) {
  const all = [...text.matchAll(STATEMENT)].map(([, duration, words]) => ({
    duration: Number(duration),
    words,
  }));
  const longest = (which) => which.toSorted((a, b) => b.duration - a.duration)[0];
  const isPurge = ({ words }) => words.includes('DELETE FROM');
  return {
    longestPurge: longest(all.filter(isPurge)),
    longestOther: longest(all.filter((each) => !isPurge(each))),
    tooLong: all.filter(({ duration }) => duration > LONGEST_MS).length,
  };
}
