/**
 * How long a token takes while forty people open one of the dearest pages without rest, with a million rows in each large table: p50 and
 * p99 beside each page, and alone before and after. After `npm run build`; it needs what bench/routes.mjs needs, which finds the pages:
 *
 *   node bench/beside-pages.mjs [--rows 1000000] [--seconds 10] [--database postgres://…]
 *
 * With `--database`, that one is used, which must have been filled before.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { startDatabase } from './database.mjs';
import { load } from './dist.mjs';
import { basic, post } from './http-text.mjs';
import { fillLarge, LARGEST, PEOPLE, sessionsOf } from './large-database.mjs';
import { runLoad } from './load.mjs';
import { CORES, pinSelf } from './machine.mjs';
import { sha256 } from './setting.mjs';
import { startService } from './servers.mjs';

/** The ten that cost most (bench/routes.mjs), with who opens them. */
const PAGES = [
  ['/portal/deliveries/csv?state=failed', 'members'],
  ['/admin/console/deliveries/csv?state=failed', 'console'],
  ['/admin/console/users/csv', 'console'],
  ['/admin/console/audit/csv', 'console'],
  ['/admin/console/users?q=driver777777@bench.example', 'console'],
  ['/portal/deliveries?type=vehicle.created', 'members'],
  ['/portal/deliveries/matching?state=failed', 'members'],
  [`/admin/console/clients/${LARGEST}/delete`, 'console'],
  ['/portal', 'members'],
  ['/admin/console/search?q=driver777777', 'console'],
];
/** Requests for tokens that are under way at a time. */
const CONNECTIONS = 2;

/** So that the code is compiled, of what is asked often. */
const WARM_UP_SECONDS = 10;

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    seconds: { type: 'string', default: '10' },
    database: { type: 'string' },
  },
});
const say = (line) => process.stdout.write(`${line}\n`);

await (process.send ? openPages() : main());

async function main() {
  pinSelf(CORES.load);
  // PostgreSQL and the people share the core of the load, and would be measured too: it goes first.
  try {
    setPriority(-20);
  } catch {
    say(
      'The load has no priority, because only root can give it: the waiting times are those of its core, too.',
    );
  }
  const database = options.database ? undefined : await startDatabase();
  const url = options.database ?? database.url;
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  const query = async (text, values) => (await pool.query(text, values)).rows;
  const stops = [() => pool.end(), () => database?.stop()];
  try {
    if (database) {
      // The database gets its keys.
      await (await startService(database)).stop();
      const connection = await pool.connect();
      await fillLarge(connection, { rows: Number(options.rows), say });
      connection.release(true);
    }
    const service = await startService({ url, folder: database?.folder ?? '/tmp' });
    stops.unshift(service.stop);
    await measureAll(service, query);
  } finally {
    for (const stop of stops) await stop();
  }
}

async function measureAll(service, query) {
  const { newSecret } = await load('platform/secrets/tokens.js');
  const secret = newSecret('clientSecret');
  await query('INSERT INTO client_secrets (client_id, digest) VALUES ($1, $2)', [LARGEST, sha256(secret)]);
  const cookies = await sessionsOf(query);
  const request = post('/o/token', basic({ id: LARGEST, secret }), 'grant_type=client_credentials');
  const tokens = (seconds) =>
    runLoad({
      ...{ port: service.port, seconds, connections: CONNECTIONS },
      connectionOf: () => ({ request: () => request, check: (status) => checkStatus(status) }),
    });
  const measured = async (name) => {
    const { requests, latencies } = await tokens(Number(options.seconds));
    const at = (part) => latencies[Math.min(requests - 1, Math.floor(requests * part))].toFixed(1);
    return `| ${name} | ${at(0.5)} | ${at(0.99)} | ${requests}`;
  };
  await tokens(WARM_UP_SECONDS);
  say('| Beside | p50, ms | p99, ms | tokens | pages | refused |\n|---|---:|---:|---:|---:|---:|');
  say(`${await measured('nothing')} | | |`);
  for (const [path, who] of PAGES) {
    const people = fork(fileURLToPath(import.meta.url));
    setPriority(people.pid, 0);
    people.send({ url: service.url + path, cookies: cookies[who] });
    await once(people, 'message');
    await tokens(WARM_UP_SECONDS);
    const line = await measured(`\`${path}\``);
    people.send('stop');
    const [{ answered, refused }] = await once(people, 'message');
    people.disconnect();
    say(`${line} | ${answered} | ${refused} |`);
  }
  say(`${await measured('nothing')} | | |`);
}

function checkStatus(status) {
  if (status !== 200) throw new Error(`a token was refused: ${status}`);
}

/** In a process of their own: each of the people opens the page again and again until it is told to stop. Tells when the first answer was there. */
async function openPages() {
  const [{ url, cookies }] = await once(process, 'message');
  let isOver = false;
  const counts = { answered: 0, refused: 0 };
  process.once('message', () => (isOver = true));
  const person = async (cookie) => {
    while (!isOver) {
      const answer = await fetch(url, { headers: { cookie, accept: 'text/html,*/*' }, redirect: 'manual' });
      await answer.arrayBuffer();
      if (answer.status < 400) counts.answered += 1;
      else counts.refused += 1;
      if (counts.answered + counts.refused === 1) process.send('begun');
    }
  };
  await Promise.all(cookies.slice(0, PEOPLE).map(person));
  process.send(counts);
}
