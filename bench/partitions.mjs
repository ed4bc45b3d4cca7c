/**
 * What a partition for each day would cost the queue of deliveries (docs/decisions/0034-partitions-by-time.md). After `npm run build`:
 *
 *   node bench/partitions.mjs
 *
 * 200,000 deliveries of 20 endpoints, of which the last 2,000 are pending, in one table and in 32 partitions by range of id: the claim
 * of what is due, a page of a client's list, and one by its id. The smallest of 40 times, and the pages that each reads.
 */
import { startDatabase } from './database.mjs';

const ROWS = 200_000;
const PARTS = 32;
const TIMES = 40;
const idOf = (n) => `'dlvr' || lpad((${n})::text, 26, '0')`;
const STATEMENTS = {
  'claim of what is due': (table) => `
    WITH RECURSIVE queue AS (
      (SELECT endpoint_id FROM ${table} WHERE state = 'pending' ORDER BY endpoint_id LIMIT 1)
      UNION ALL
      SELECT (SELECT d.endpoint_id FROM ${table} d
               WHERE d.state = 'pending' AND d.endpoint_id > q.endpoint_id ORDER BY d.endpoint_id LIMIT 1)
        FROM queue q WHERE q.endpoint_id IS NOT NULL
    )
    SELECT due.id FROM queue q, LATERAL (
      SELECT d.id FROM ${table} d
       WHERE d.endpoint_id = q.endpoint_id AND d.state = 'pending' AND d.next_attempt_at <= now()
       ORDER BY d.next_attempt_at LIMIT 5 FOR UPDATE SKIP LOCKED) due`,
  "page of a client's list": (table) =>
    `SELECT * FROM ${table} WHERE client_id = 'client 3' ORDER BY id DESC LIMIT 26`,
  'one by its id': (table) => `SELECT * FROM ${table} WHERE id = ${idOf(ROWS - 9)}`,
};

const say = (line) => process.stdout.write(`${line}\n`);
const database = await startDatabase();
try {
  const { query } = database;
  await query('SET jit = off');
  for (const [table, how] of [
    ['one', ''],
    ['many', 'PARTITION BY RANGE (id)'],
  ])
    await query(`CREATE TABLE ${table} (LIKE deliveries INCLUDING ALL) ${how}`);
  for (let part = 0; part < PARTS; part++) {
    const [[from], [to]] = await Promise.all(
      [part, part + 1].map(async (each) =>
        (await query(`SELECT ${idOf((each * ROWS) / PARTS)} AS id`)).map(({ id }) => id),
      ),
    );
    await query(`CREATE TABLE many_${part} PARTITION OF many FOR VALUES FROM ('${from}') TO ('${to}')`);
  }
  for (const table of ['one', 'many']) {
    await query(
      `INSERT INTO ${table} (id, event_id, event_type, endpoint_id, client_id, state, next_attempt_at, created_at)
       SELECT ${idOf('n')}, 'event', 'vehicle.updated', 'endpoint ' || n % 20, 'client ' || n % 20,
              CASE WHEN n < ${ROWS - 2000} THEN 'delivered' ELSE 'pending' END, CASE WHEN n >= ${ROWS - 2000} THEN now() END, now()
         FROM generate_series(0, ${ROWS - 1}) n`,
    );
    await query(`VACUUM ANALYZE ${table}`);
  }
  say('| | in | planned, ms | run, ms | pages |\n|---|---|---:|---:|---:|');
  for (const [name, statement] of Object.entries(STATEMENTS)) {
    for (const [table, words] of [
      ['one', 'one table'],
      ['many', `${PARTS} partitions`],
    ]) {
      const all = [];
      for (let n = 0; n < TIMES; n++) {
        const [row] = await query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${statement(table)}`);
        all.push(row['QUERY PLAN'][0]);
      }
      const least = (valueOf) => Math.min(...all.map(valueOf));
      const pages = ({ Plan: plan }) => plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
      const ms = (key) => least((each) => each[key]).toFixed(2);
      say(`| ${name} | ${words} | ${ms('Planning Time')} | ${ms('Execution Time')} | ${least(pages)} |`);
    }
  }
} finally {
  await database.stop();
}
