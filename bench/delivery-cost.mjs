/**
 * PostgreSQL's processor time and WAL of a delivery: publishing its event, claiming it, storing its result. After `npm run build`, for this
 * build, or in turns with another one that is built, too:
 *
 *   node bench/delivery-cost.mjs [../other]
 *
 * Each event goes to four of twenty endpoints; all is done in batches of 64 deliveries on one connection, of whose process the time is; "alone" is
 * a delivery of an event that is published by itself, as those of a service without much load are, and is not in the sum. Each build
 * has a database of its own in one cluster, made in its first round. The medians of three rounds. The last line is this build with 1,000
 * further endpoints, which are filtered and get nothing: 200 of them are judged for each event, 50 for each delivery.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { randomUUID } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { startDatabase } from './database.mjs';

const DELIVERIES = 6_400;
/** Deliveries of events that are published one by one. */
const ALONE = 400;
const BATCH = 64;
const PER_EVENT = 4;
const CLIENTS = 20;
const USERS = 500;
const ROUNDS = 3;
const TYPE = 'charging_session.updated';
/** As in the service (`PLAN_FOR_LARGE_TABLES`); for named statements, as on the connections of a worker. */
const SESSION =
  'SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off;';
const GENERIC = 'SET plan_cache_mode = force_generic_plan';
/** Each user has consented to four clients, so that each event has four deliveries. */
const SEED = `
  INSERT INTO users (id, email, email_key, name, kind, role)
  SELECT 'user' || lpad(n::text, 26, '0'), n || '@x.example', n || '@x.example', 'Driver', 'individual', 'user' FROM generate_series(1, ${USERS}) n;
  INSERT INTO clients (id, name, type, owner_id, grant_types, scopes, redirect_uris)
  SELECT 'clnt' || lpad(n::text, 26, '0'), 'Client', 'confidential', 'user' || lpad('1', 26, '0'), '{client_credentials}', '{charging_session:read}', '{}'
    FROM generate_series(1, ${CLIENTS}) n;
  INSERT INTO consents (client_id, user_id, scopes)
  SELECT 'clnt' || lpad(((u * ${PER_EVENT} + k) % ${CLIENTS} + 1)::text, 26, '0'), 'user' || lpad(u::text, 26, '0'), '{charging_session:read}'
    FROM generate_series(1, ${USERS}) u, generate_series(1, ${PER_EVENT}) k;
  INSERT INTO webhook_endpoints (id, client_id, url, event_types, sealed_secret)
  SELECT 'endp' || lpad(n::text, 26, '0'), 'clnt' || lpad(n::text, 26, '0'), 'https://partner.example/' || n, '{${TYPE}}', decode(repeat('ab', 60), 'hex')
    FROM generate_series(1, ${CLIENTS}) n`;

/** Further endpoints of the clients, whose filters no event passes. */
const FILTERED = `
  INSERT INTO webhook_endpoints (id, client_id, url, event_types, sealed_secret, filters, filter)
  SELECT 'endp' || lpad((${CLIENTS} + n)::text, 26, '0'), 'clnt' || lpad((n % ${CLIENTS} + 1)::text, 26, '0'), 'https://partner.example/f' || n,
         '{${TYPE}}', decode(repeat('ab', 60), 'hex'), '[{"path":"data.energy_kwh","operator":"greater","value":5}]',
         '($."data"."energy_kwh" > 5)'
    FROM generate_series(1, 1000) n`;
const WITH_FILTERED = '. with 1,000 filtered endpoints';

const partOf = (build, file) => import(pathToFileURL(path.resolve(build, 'dist/src', file)).href);
const folderOf = (what) => (what === WITH_FILTERED ? '.' : what);
const cpu = ({ processID }) =>
  Number(readFileSync(`/proc/${processID}/schedstat`, 'latin1').split(' ')[0]) / 1000;
const attempt = () => ({
  ...{ attemptedAt: new Date(), durationMs: 12.3, status: 200, responseStart: 'ok', ownHeaders: [] },
  responseHeaders: [['content-type', 'text/plain']],
  ...{ signature: `v1,${'a'.repeat(44)}`, url: 'https://partner.example/1' },
});

/** The repositories of a build, which ask this connection: by TypeORM's `query`, or by a named statement. */
async function repositoriesOf(build, connection) {
  const { EventsRepository } = await partOf(build, 'events/webhooks/events/events.repository.js');
  const { DeliveryQueueRepository } = await partOf(
    build,
    'events/webhooks/deliveries/delivery-queue.repository.js',
  );
  const query = async (text, values) => {
    const { command, rows, rowCount } = await connection.query(text, values);
    return command === 'UPDATE' ? [rows, rowCount] : rows;
  };
  const run = async (name, text, values) => (await connection.query({ name, text, values })).rows;
  return {
    events: new EventsRepository({ query, manager: { query } }, undefined, { run }),
    queue: new DeliveryQueueRepository({ query, manager: { query } }, { run }),
  };
}

async function measure(what, url, round) {
  const build = folderOf(what);
  const connection = new pg.Client({ connectionString: url });
  await connection.connect();
  try {
    await connection.query('TRUNCATE events CASCADE');
    await connection.query('TRUNCATE webhook_endpoint_hours');
    await connection.query('VACUUM webhook_endpoints');
    await connection.query('CHECKPOINT');
    await connection.query(SESSION + GENERIC);
    const { events, queue } = await repositoriesOf(build, connection);
    const { rows } = await connection.query('SELECT revision FROM event_types WHERE name = $1', [TYPE]);
    const wal = async () =>
      Number(
        (await connection.query("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') AS n")).rows[0].n,
      );
    const cost = {};
    const costOf = async (name, deliveries, work) => {
      const before = [cpu(connection), await wal()];
      const result = await work();
      cost[name] = (cost[name] ?? 0) + (cpu(connection) - before[0]) / deliveries;
      cost[`${name} WAL`] = (cost[`${name} WAL`] ?? 0) + ((await wal()) - before[1]) / deliveries;
      return result;
    };
    const all = DELIVERIES + ALONE;
    for (let n = 0; n < all / PER_EVENT;) {
      const isAlone = n < ALONE / PER_EVENT;
      const batch = Array.from({ length: isAlone ? 1 : BATCH / PER_EVENT }, (_, i) => ({
        id: `evnt${String(round * all + n + i).padStart(26, '0')}`,
        ...{ type: TYPE, userId: `user${String(((n + i) % USERS) + 1).padStart(26, '0')}`, realm: 'live' },
        ...{
          payload: JSON.stringify({ type: TYPE, data: 'x'.repeat(380) }),
          version: 1,
          revision: rows[0].revision,
        },
      }));
      n += batch.length;
      const stored = await costOf(isAlone ? 'alone' : 'publish', isAlone ? ALONE : DELIVERIES, () =>
        events.publish(batch),
      );
      if (stored.some(({ deliveries }) => deliveries !== PER_EVENT))
        throw new Error(JSON.stringify(stored[0]));
    }
    await connection.query('ANALYZE');
    for (let done = 0; done < all;) {
      const got = await costOf('claim', all, () => queue.claim(randomUUID(), BATCH, 32, new Map()));
      const claimed = got.deliveries ?? got;
      if (claimed.length === 0 || claimed[0].cancelReason)
        throw new Error(`${done}: ${claimed[0]?.cancelReason}`);
      const results = claimed.map(({ id, leaseId }) => ({
        id,
        leaseId,
        state: 'delivered',
        attempt: attempt(),
      }));
      await costOf('finish', all, () => queue.finish(results));
      done += claimed.length;
    }
    return cost;
  } finally {
    await connection.end();
  }
}

const say = (line) => process.stdout.write(`${line}\n`);
const builds = ['.', ...process.argv.slice(2), WITH_FILTERED];
const cluster = await startDatabase({ autovacuum: 'off' });
try {
  const databases = new Map();
  for (const [n, build] of builds.entries()) {
    await cluster.query(`CREATE DATABASE cost_${n}`);
    const url = new URL(cluster.url);
    url.pathname = `/cost_${n}`;
    const { migrate } = await partOf(folderOf(build), 'platform/database/migrations/migrate.js');
    await migrate(url.href, async () => undefined);
    const seeding = new pg.Client({ connectionString: url.href });
    await seeding.connect();
    await seeding.query(SEED);
    if (build === WITH_FILTERED) await seeding.query(FILTERED);
    await seeding.query('VACUUM ANALYZE');
    await seeding.end();
    databases.set(build, url.href);
  }
  const costs = new Map(builds.map((build) => [build, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const build of round % 2 ? builds.toReversed() : builds)
      costs.get(build).push(await measure(build, databases.get(build), round));
  }
  const median = (of) => of.toSorted((a, b) => a - b)[of.length >> 1];
  say('| build | alone, µs | publish | claim | finish | WAL, bytes |\n|---|--:|--:|--:|--:|--:|');
  for (const [build, rounds] of costs) {
    const of = (name) => median(rounds.map((cost) => cost[name]));
    const wal = of('publish WAL') + of('claim WAL') + of('finish WAL');
    say(
      `| ${build} | ${of('alone').toFixed(0)} | ${of('publish').toFixed(0)} | ${of('claim').toFixed(0)} | ${of('finish').toFixed(0)} | ${wal.toFixed(0)} |`,
    );
  }
} finally {
  await cluster.stop();
}
