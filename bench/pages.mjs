/**
 * What tokens lose while people look at pages: W1 alone, and while 40 sessions ask for one page again and again, each of the dearest in turn,
 * with a million rows in each large table. After `npm run build`; it takes as much as bench/routes.mjs, and then a few minutes:
 *
 *   node bench/pages.mjs [--rows 1000000] [--rounds 3] [--seconds 5] [--only /account] [--limited] [--database postgres://…]
 *
 * No limit refuses anything, as if every session were of another account and all of them patient; with `--limited` the limit of an account is the usual.
 * With `--database`, that one is used, which must have been filled before.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import pg from 'pg';
import { Pool } from 'undici';
import { startDatabase } from './database.mjs';
import { load } from './dist.mjs';
import { fillLarge, LARGEST, PEOPLE, sessionsOf, valuesOf } from './large-database.mjs';
import { CORES, machine, PINNING, pinSelf } from './machine.mjs';
import { loadOnce, median } from './measure.mjs';
import { startService } from './servers.mjs';
import { sha256 } from './setting.mjs';
import { clientCredentials } from './workloads/tokens.mjs';

const WARM_UP_SECONDS = 4;
/** The dearest addresses that bench/routes.mjs found, by the sessions that ask for them. */
const DEAREST = [
  ['/portal/deliveries/csv?state=failed', 'portal'],
  ['/admin/console/deliveries/csv?state=failed', 'console'],
  ['/admin/console/audit/csv', 'console'],
  ['/admin/console/users/csv', 'console'],
  ['/portal/deliveries/matching', 'portal'],
  ['/admin/console/users?q=driver777777%40bench.example', 'console'],
  ['/admin/console', 'console'],
  ['/portal', 'portal'],
  ['/portal/deliveries?type=vehicle.created', 'portal'],
  ['/account', 'account'],
];

if (isMainThread) await main();
else hammer();

async function main() {
  const { values: options } = parseArgs({
    options: {
      rows: { type: 'string', default: '1000000' },
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '5' },
      only: { type: 'string', default: '/' },
      limited: { type: 'boolean', default: false },
      database: { type: 'string' },
    },
  });
  say(machine());
  if (PINNING.possible) pinSelf(CORES.load);
  const own = options.database ? undefined : await startDatabase();
  const pool = new pg.Pool({ connectionString: options.database ?? own.url, max: 2 });
  const query = async (text, values) => (await pool.query(text, values)).rows;
  const folder = own?.folder ?? (await mkdtemp(path.join(tmpdir(), 'charging-data-bench-')));
  let service;
  try {
    if (own) {
      const connection = await pool.connect();
      await fillLarge(connection, { rows: Number(options.rows), say });
      connection.release(true);
    }
    const environment = { ROLE: 'api', ...(options.limited ? { SESSION_RATE_LIMIT_PER_MINUTE: '600' } : {}) };
    service = await startService({ url: options.database ?? own.url, folder }, [], environment);
    await measureAll(service, query, options);
  } finally {
    await service?.stop();
    await pool.end();
    await own?.stop();
    if (!own) await rm(folder, { recursive: true, force: true });
  }
}

async function measureAll(service, query, options) {
  const cookies = await sessionsOf(query);
  const tokens = await clientCredentials.prepare({ clients: [await clientWithSecret(query)] });
  const alone = () => loadOnce(clientCredentials, service, tokens, Number(options.seconds));
  await loadOnce(clientCredentials, service, tokens, WARM_UP_SECONDS);
  const { users } = await valuesOf(query);
  say(
    `\n| 40 sessions ask for | tokens a second, alone | beside | p50, ms | beside | p99, ms | beside | p99, × alone | pages a second | refused |`,
  );
  say('|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|');
  for (const [address, area] of DEAREST) {
    if (!address.startsWith(options.only)) continue;
    const rounds = [];
    for (let round = 0; round < Number(options.rounds); round++) {
      const before = await alone();
      const { during, pages, refused } = await beside(
        service,
        address.replace('@', users),
        cookies[area],
        alone,
      );
      rounds.push({
        before,
        during,
        pages: pages / Number(options.seconds),
        refused: refused / Number(options.seconds),
      });
    }
    const of = (read) => median(rounds.map(read));
    const pair = (name, digits) =>
      [of((each) => each.before[name]), of((each) => each.during[name])]
        .map((each) => each.toFixed(digits))
        .join(' | ');
    const times = of(({ before, during }) => during.p99 / before.p99);
    say(
      `| \`${address}\` | ${pair('rate', 0)} | ${pair('p50', 1)} | ${pair('p99', 1)} | ${times.toFixed(1)} | ${of(({ pages }) => pages).toFixed(0)} | ${of(({ refused }) => refused).toFixed(0)} |`,
    );
  }
}

/** Loads the service with tokens while another thread asks for the page. */
async function beside(service, address, cookies, tokens) {
  const worker = new Worker(fileURLToPath(import.meta.url), {
    workerData: { url: service.url, address, cookies },
  });
  const told = () => new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
  await told();
  const during = await tokens();
  const counted = told();
  worker.postMessage('stop');
  const result = await counted;
  await worker.terminate();
  return { during, ...result };
}

/** Asks for a page by every session, again and again, until it is told to stop; then tells how many were answered, and how many refused. */
function hammer() {
  const { url, address, cookies } = workerData;
  const pool = new Pool(url, { connections: PEOPLE, pipelining: 1, bodyTimeout: 0, headersTimeout: 0 });
  let [pages, refused, isOver] = [0, 0, false];
  const one = async (cookie) => {
    while (!isOver) {
      const { statusCode, body } = await pool.request({
        path: address,
        method: 'GET',
        headers: { cookie, accept: 'text/html' },
      });
      await body.dump({ limit: Infinity });
      if (statusCode < 400) pages++;
      else refused++;
    }
  };
  const all = cookies.map(one);
  parentPort.once('message', async () => {
    const result = { pages, refused };
    isOver = true;
    await Promise.race([Promise.all(all), new Promise((resolve) => setTimeout(resolve, 5_000))]).catch(
      () => undefined,
    );
    parentPort.postMessage(result);
  });
  // Once they are all under way.
  setTimeout(() => parentPort.postMessage('begun'), 1_000);
}

async function clientWithSecret(query) {
  const { newSecret } = await load('platform/secrets/tokens.js');
  const secret = newSecret('clientSecret');
  await query('DELETE FROM client_secrets WHERE client_id = $1', [LARGEST]);
  await query('INSERT INTO client_secrets (client_id, digest) VALUES ($1, $2)', [LARGEST, sha256(secret)]);
  return { id: LARGEST, secret };
}

function say(line) {
  process.stdout.write(`${line}\n`);
}
