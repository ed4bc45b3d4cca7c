/**
 * What it costs that operators can look up requests, and see in the navigation what waits. After `npm run build`:
 *
 *   node bench/request-records.mjs [--only W1,W2] [--rounds 10] [--rows 100000]
 *
 * Requests are served by processes that keep records of requests, and by others that do not, in turns. Then the statement that each page
 * of the console sends is run over tables in which nearly nothing waits.
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { load } from './dist.mjs';
import { median } from './measure.mjs';
import { startService } from './servers.mjs';
import { id } from './setting.mjs';
import { takeTurns } from './take-turns.mjs';

const WAITING = 20;
const RUNS = 2_000;

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: 'W1,W2' },
    rounds: { type: 'string', default: '10' },
    rows: { type: 'string', default: '100000' },
  },
});
const preload = fileURLToPath(new URL('./without-request-records.mjs', import.meta.url));
await takeTurns({
  starts: {
    'with request records': startService,
    'without request records': (database) => startService(database, [`--import=${preload}`]),
  },
  only: values.only,
  rounds: values.rounds,
  then: async (database) => {
    await tellRecords(database);
    await measureWaiting(database, Number(values.rows));
  },
});

/** How many records there are: only the processes that keep them have written any. */
async function tellRecords({ query }) {
  const [{ count, size }] = await query(
    `SELECT (SELECT count(*) FROM request_records)::int AS count, sum(pg_total_relation_size(relid))::int AS size
       FROM pg_partition_tree('request_records')`,
  );
  say(`${count.toLocaleString('en-GB')} records, ${Math.ceil(size / 1024).toLocaleString('en-GB')} kB`);
}

async function measureWaiting({ query }, rows) {
  await fill(query, rows);
  const statement = await waitingStatement();
  const [counted] = await query(statement);
  for (const [name, count] of Object.entries(counted)) {
    if (count !== WAITING) throw new Error(`${count} ${name} are counted in place of ${WAITING}.`);
  }
  say(
    `\nWhat waits, of ${rows.toLocaleString('en-GB')} rows in each of three tables, ${WAITING} of them waiting`,
  );
  for (const plan of await query(`EXPLAIN (ANALYZE, BUFFERS, SUMMARY) ${statement}`))
    say(`  ${plan['QUERY PLAN']}`);
  const times = [];
  for (let n = 0; n < RUNS; n++) {
    const begun = performance.now();
    await query(statement);
    times.push((performance.now() - begun) * 1000);
  }
  const overhead = [];
  for (let n = 0; n < RUNS; n++) {
    const begun = performance.now();
    await query('SELECT 1');
    overhead.push((performance.now() - begun) * 1000);
  }
  say(
    `  ${median(times).toFixed(0)} µs with the way to PostgreSQL and back, which alone takes ${median(overhead).toFixed(0)} µs (medians of ${RUNS})`,
  );
}

/** The statement as the service sends it. */
async function waitingStatement() {
  const { WaitingRepository } = await load('entrypoints/admin/console/waiting/waiting.repository.js');
  let statement;
  await new WaitingRepository({ query: async (text) => [(statement = text)] }).count();
  return statement;
}

async function fill(query, rows) {
  const client = id('clnt', 1);
  const insert = (into, select) =>
    query(`INSERT INTO ${into} SELECT ${select} FROM generate_series(1, $1::int) n`, [rows]);
  await insert(
    'webhook_endpoints (id, client_id, url, event_types, sealed_secret, failing_since)',
    `'endp' || lpad(n::text, 26, '0'), '${client}', 'https://partner.example/' || n, '{vehicle.updated}', '\\x00',
     CASE WHEN n <= ${WAITING} THEN now() END`,
  );
  await insert(
    'approvals (id, action, subject_id, state, requested_by_type, requested_by_id, requested_by_person, expires_at, decided_by_type, decided_by_id, decided_at)',
    `'appr' || lpad(n::text, 26, '0'), 'user.erase', n::text, CASE WHEN n <= ${WAITING} THEN 'pending' ELSE 'approved' END, 'user', 'u', 'u', now() + interval '7 days',
     CASE WHEN n > ${WAITING} THEN 'user' END, CASE WHEN n > ${WAITING} THEN 'u' END, CASE WHEN n > ${WAITING} THEN now() END`,
  );
  await insert(
    'redirect_uri_requests (id, client_id, action, uri, state, requested_by, decided_at)',
    `'ruri' || lpad(n::text, 26, '0'), '${client}', 'add', 'https://partner.example/' || n,
     CASE WHEN n <= ${WAITING} THEN 'pending' ELSE 'approved' END, 'u', CASE WHEN n > ${WAITING} THEN now() END`,
  );
  await query('VACUUM ANALYZE webhook_endpoints, approvals, redirect_uri_requests');
}

function say(line) {
  process.stdout.write(`${line}\n`);
}
