/**
 * How the database grows, and what partitioning its largest table costs: the figures of docs/scaling.md. After `npm run build`:
 *
 *   node bench/scale.mjs [--grants 50000000] [--partitions 32] [--out bench/results/scale]
 *
 * Fills the tables of users, consents and grants, rotates random refresh tokens, and repeats this with the grants table in hash
 * partitions. It reports the size of each row, the speed of each table and the cost of its vacuum. There are as many users and
 * consents as a million grants need; further grants belong to the same users.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { startDatabase } from './database.mjs';
import { load } from './dist.mjs';
import { CORES, machine, PINNING, pinSelf } from './machine.mjs';

const CHUNK = 500_000;
// Per grant: half a user, because each user has two grants, and a consent.
const GRANTS_OF_USER = 2;
const MOST_CONSENTS = 1_000_000;
const CLIENTS = 20;
const SCOPES = '{charging_session:read,vehicle:read}';
const ROTATED_AT_ONCE = 16;
const ROTATION_SECONDS = 20;
const INDEXES = `SELECT indexname AS name, indexdef FROM pg_indexes WHERE tablename = 'grants' AND indexname NOT LIKE '%_pkey'`;
const KINDS_OF_ROWS = ['users', 'consents', 'grants'];

const { values } = parseArgs({
  options: {
    grants: { type: 'string', default: '50000000' },
    partitions: { type: 'string', default: '32' },
    seconds: { type: 'string', default: String(ROTATION_SECONDS) },
    out: { type: 'string', default: path.join(import.meta.dirname, 'results', 'scale') },
  },
});
const [grants, partitions, seconds] = [values.grants, values.partitions, values.seconds].map(Number);
const consents = Math.min(grants, MOST_CONSENTS);
const lines = [];
const say = (line) => {
  lines.push(line);
  process.stdout.write(`${line}\n`);
};
const whole = (number) => Math.round(number).toLocaleString('en-GB');

const where = machine();
if (PINNING.possible) pinSelf(CORES.load);
const database = await startDatabase();
const connection = new pg.Client({ connectionString: database.url });
await connection.connect();
const query = async (text, parameters) => (await connection.query(text, parameters)).rows;
const one = async (text, parameters) => (await query(text, parameters))[0];
try {
  say('# How the database grows\n');
  say(`- ${new Date().toISOString()}: ${where}`);
  say(
    `- PostgreSQL: ${await database.settings()}; ${whole(grants)} grants, the benchmark and PostgreSQL on one core\n`,
  );
  await fill();
  await sayRowSizes();
  say(
    '\n| | refreshes a second | WAL bytes each | pages read from disk each | in place | vacuum, s | largest index, MB |',
  );
  say('|---|---:|---:|---:|---:|---:|---:|');
  await sayRotations('one table', ['grants']);
  const cost = await split();
  await sayRotations(`${partitions} hash partitions`, partitionNames());
  say(`\n${cost}`);
  await mkdir(path.dirname(path.resolve(values.out)), { recursive: true });
  await writeFile(`${values.out}.md`, `${lines.join('\n')}\n`);
} finally {
  await connection.end();
  await database.stop();
}

async function fill() {
  const begun = performance.now();
  await query('SET session_replication_role = replica');
  await query("SET maintenance_work_mem = '1GB'");
  await query(
    `INSERT INTO clients (id, name, type, grant_types, scopes, redirect_uris, owner_id)
     SELECT ${clientOf('n')}, 'Bench', 'confidential', '{authorization_code}', '${SCOPES}', '{}', ${userOf('1')} FROM generate_series(1, ${CLIENTS}) n`,
  );
  await inChunks(Math.ceil(consents / GRANTS_OF_USER), (from, to) =>
    query(
      `INSERT INTO users (id, email, email_key, name, kind, role)
       SELECT 'user' || lpad(n::text, 26, '0'), 'driver' || n || '@bench.example', 'driver' || n || '@bench.example',
              'Driver ' || n, 'individual', 'user'
         FROM generate_series($1::int, $2::int) n`,
      [from, to],
    ),
  );
  await inChunks(consents, (from, to) =>
    query(
      `INSERT INTO consents (client_id, user_id, scopes)
       SELECT ${clientOf('n')}, ${userOf('n')}, '${SCOPES}' FROM generate_series($1::int, $2::int) n`,
      [from, to],
    ),
  );
  // Built at the end in one go: many times faster than row by row.
  const indexes = await query(INDEXES);
  for (const { name } of indexes) await query(`DROP INDEX ${name}`);
  await fillGrants();
  for (const { indexdef } of indexes) await query(indexdef);
  await query('RESET session_replication_role');
  await query('VACUUM (ANALYZE, FREEZE)');
  await query('CHECKPOINT');
  say(`Filled in ${whole((performance.now() - begun) / 1000)} s.\n`);
}

/** Inserts grants without foreign keys and triggers, as the caller has configured. */
function fillGrants() {
  return inChunks(grants, (from, to) =>
    query(
      `INSERT INTO grants (id, client_id, user_id, scopes, expires_at, token_key_id, token_era, token_position,
                           access_expires_at, refresh_expires_at, look_again_at)
       SELECT 'grnt' || lpad(n::text, 26, '0'), ${clientOf('n')}, ${userOf('n')}, '${SCOPES}', now() + n % 365 * interval '1 day' + interval '1 day',
              1, 1, 1000000000, now() + interval '10 hours', now() + interval '30 days', now() + interval '30 days'
         FROM generate_series($1::int, $2::int) n`,
      [from, to],
    ),
  );
}

async function sayRowSizes() {
  say('| a row of | bytes with its indexes | of which the table |');
  say('|---|---:|---:|');
  for (const table of KINDS_OF_ROWS) {
    const size = await one(
      `SELECT count(*)::float8 AS rows, pg_total_relation_size('${table}')::float8 AS all, pg_table_size('${table}')::float8 AS heap FROM ${table}`,
    );
    say(`| ${table} | ${whole(size.all / size.rows)} | ${whole(size.heap / size.rows)} |`);
  }
}

/** Refreshes with the service's own statements, sixteen random grants together, as under load. */
async function sayRotations(name, tables) {
  const { RefreshTokensRepository } = await load('access/tokens/refresh/refresh-tokens.repository.js');
  await query(
    'SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off',
  );
  // Plans for the table that had this name before do not fit this one.
  await query('DEALLOCATE ALL');
  const run = async (statement, text, parameters) =>
    (await connection.query({ name: `${name} ${statement}`, text, values: parameters })).rows;
  const repository = new RefreshTokensRepository({ run });
  const before = await counters(tables);
  const begun = performance.now();
  let done = 0;
  while (performance.now() - begun < seconds * 1000) {
    const ids = new Set();
    while (ids.size < ROTATED_AT_ONCE) ids.add(1 + Math.floor(Math.random() * grants));
    const rotated = await Promise.all(
      [...ids].map((n) => refreshOnce(repository, `grnt${String(n).padStart(26, '0')}`)),
    );
    done += rotated.filter(Boolean).length;
  }
  const rate = (done * 1000) / (performance.now() - begun);
  const after = await counters(tables);
  const vacuum = performance.now();
  for (const table of tables) await query(`VACUUM ${table}`);
  const vacuumed = (performance.now() - vacuum) / 1000;
  const { largest } = await one(
    `SELECT max(pg_relation_size(indexrelid))::float8 / 1e6 AS largest FROM pg_index WHERE indrelid = ANY ($1::text[]::regclass[])`,
    [tables],
  );
  const each = (member) => (after[member] - before[member]) / done;
  say(
    `| ${name} | ${whole(rate)} | ${whole(each('wal'))} | ${each('read').toFixed(1)} | ${((each('inPlace') / each('updates')) * 100).toFixed(0)} % | ` +
      `${vacuumed.toFixed(1)} | ${whole(largest)} |`,
  );
}

/** A lookup and a rotation, like one refresh. */
async function refreshOnce(repository, grantId) {
  // These tokens need no key: nothing opens them.
  const found = await repository.find({ grantId, generation: 0, keyId: 1, grace: 60 });
  if (!found) return false;
  const lifetimes = { refreshTtl: 2_592_000, accessTtl: 36_000, grace: 60 };
  const { generation, keyId, era, position, asked, given } = found;
  return Boolean(
    await repository.rotate({ grantId, generation, keyId, era, position, asked, given, ...lifetimes }),
  );
}

async function counters(tables) {
  await query('SELECT pg_stat_force_next_flush()');
  return one(
    `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS wal, sum(n_tup_upd)::float8 AS updates,
            sum(n_tup_hot_upd)::float8 AS "inPlace", sum(heap_blks_read + coalesce(idx_blks_read, 0))::float8 AS read
       FROM pg_stat_user_tables JOIN pg_statio_user_tables USING (relid) WHERE relid = ANY ($1::text[]::regclass[])`,
    [tables],
  );
}

/**
 * Replaces a table with hash partitions that hold as many grants, with the same indexes, keys and triggers. Returns the cost as a
 * sentence.
 */
async function split() {
  const indexes = await query(INDEXES);
  const triggers = await query(
    `SELECT pg_get_triggerdef(oid) AS definition FROM pg_trigger WHERE tgrelid = 'grants'::regclass AND NOT tgisinternal`,
  );
  await query('ALTER TABLE grants RENAME TO grants_before');
  await query(
    'CREATE TABLE grants (LIKE grants_before INCLUDING DEFAULTS INCLUDING CONSTRAINTS) PARTITION BY HASH (id)',
  );
  for (const [n, name] of partitionNames().entries()) {
    await query(
      `CREATE TABLE ${name} PARTITION OF grants FOR VALUES WITH (MODULUS ${partitions}, REMAINDER ${n}) WITH (fillfactor = 80)`,
    );
  }
  // Keeping both would take twice the disk space.
  await query('TRUNCATE grants_before CASCADE');
  const begun = performance.now();
  await query('SET session_replication_role = replica');
  await fillGrants();
  await query('RESET session_replication_role');
  const filled = performance.now();
  await query('ALTER TABLE grants ADD PRIMARY KEY (id)');
  for (const { indexdef } of indexes) {
    await query(indexdef.replace(/INDEX (\w+) ON public\.grants/, 'INDEX $1_split ON grants'));
  }
  await query(
    'ALTER TABLE grants ADD FOREIGN KEY (client_id, user_id) REFERENCES consents (client_id, user_id) ON DELETE CASCADE',
  );
  for (const { definition } of triggers) await query(definition);
  const built = performance.now();
  await query('VACUUM (ANALYZE, FREEZE) grants');
  await query('CHECKPOINT');
  return (
    `Filled in ${whole((filled - begun) / 1000)} s; ${indexes.length + 1} indexes, the foreign key and ${triggers.length} triggers ` +
    `afterwards in ${whole((built - filled) / 1000)} s.`
  );
}

function partitionNames() {
  return Array.from({ length: partitions }, (_, n) => `grants_${n}`);
}

async function inChunks(count, work) {
  for (let from = 1; from <= count; from += CHUNK) await work(from, Math.min(count, from + CHUNK - 1));
}

function clientOf(n) {
  return `'clnt' || lpad((${n} % ${CLIENTS} + 1)::text, 26, '0')`;
}

function userOf(n) {
  return `'user' || lpad(((${n} - 1) % ${consents} / ${GRANTS_OF_USER} + 1)::text, 26, '0')`;
}
