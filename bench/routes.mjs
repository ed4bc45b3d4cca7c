/**
 * What every page and list costs with a million rows in each large table: processor time of the service, and time and pages of the
 * database. After `npm run build`; it needs pg_stat_statements (`shared_preload_libraries`), 10 GB of disk, and half an hour:
 *
 *   node bench/routes.mjs [--rows 1000000] [--only /account] [--database postgres://… [--fill]]
 *
 * With `--database`, that one is used, which must have been filled before, and is left as it is.
 */
import diagnostics from 'node:diagnostics_channel';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { startDatabase } from './database.mjs';
import { load } from './dist.mjs';
import { addAdminClient, fillLarge, LARGEST, sessionsOf, valuesOf } from './large-database.mjs';
import { median } from './measure.mjs';
import { freePort, serviceEnvironment } from './servers.mjs';

const TIMES = 3;
// So that the code is compiled, of what is asked often.
const WARM_UP = 10;
const CHEAP_MS = 300;
const LISTED = 40;
const COUNTED = { shared_preload_libraries: 'pg_stat_statements' };

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    only: { type: 'string', default: '/' },
    database: { type: 'string' },
    fill: { type: 'boolean', default: false },
  },
});
const say = (line) => process.stdout.write(`${line}\n`);
/** Who asks, by the beginning of the path. */
const AREAS = [
  ['/admin/console', 'console'],
  ['/admin', 'admin token'],
  ['/account', 'account'],
  ['/portal/sign-in', 'members'],
  ['/portal', 'members'],
  ['/v2/event_types', 'nobody'],
  ['/v2/problems', 'nobody'],
  ['/v2/access_changes', undefined],
  ['/v2', 'client token'],
  ['/notifications', 'client token'],
  ['/webhook_portal', 'client token'],
  ['/docs', 'members'],
  ['/o/authorize', undefined],
  ['/health', undefined],
  ['/metrics', undefined],
  ['/portal/sandbox', undefined],
  ['/', 'nobody'],
];
/** Further ways to ask: the dearest that a person can choose. */
const QUERIES = {
  '/account/activity': ['', '?page_after=@'],
  '/portal/search': ['?q=vehicle', '?q=evnt', '?q=https%3A%2F%2Fpartner'],
  '/portal/deliveries': [
    '',
    '?state=failed',
    '?type=vehicle.created',
    '?type=vehicle.created&state=delivered',
  ],
  '/portal/deliveries/csv': ['', '?state=failed'],
  '/portal/deliveries/matching': [
    '',
    '?state=failed',
    '?state=delivered',
    '?type=vehicle.created',
    '?type=vehicle.created&state=failed',
  ],
  '/admin/console/search': ['?q=Driver%2077', '?q=driver777777', '?q=vehicle', '?q=request-77'],
  '/admin/console/users': ['', '?q=Driver%2077', '?q=driver777777@bench.example'],
  '/admin/console/clients': ['', '?q=Application'],
  '/admin/console/deliveries': ['', '?state=failed', '?type=vehicle.created'],
  '/admin/console/deliveries/csv': ['', '?state=failed', '?type=vehicle.created'],
  '/admin/users': ['', '?q=driver777777'],
  '/docs/search': [
    '?q=token',
    '?q=signatrue%20authorizaton%20introspectin%20deliverys%20charing%20webhok%20consnts%20notificaton',
  ],
  '/v2/events': ['', '?page_size=100'],
};

await main();

async function main() {
  const database = options.database ? undefined : await startDatabase(COUNTED);
  const url = options.database ?? database.url;
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  const query = async (text, values) => (await pool.query(text, values)).rows;
  const stops = [() => pool.end(), () => database?.stop()];
  try {
    if (!options.database || options.fill) {
      const connection = await pool.connect();
      await fillLarge(connection, { rows: Number(options.rows), say });
      connection.release(true);
    }
    await query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements');
    const service = await startService(url);
    stops.unshift(service.stop);
    await measureAll(service, query);
  } finally {
    for (const stop of stops) await stop();
  }
}

/** The service in this process, whose processor time is then nearly that of the service. */
async function startService(databaseUrl) {
  const { loadSettings } = await load('platform/config/settings.js');
  const { createApp } = await load('start/app.setup.js');
  const { createLog } = await load('platform/http/server/logging.js');
  const { AccessTokensService } = await load('access/tokens/access/access-tokens.service.js');
  const port = await freePort();
  const settings = await loadSettings({
    ...serviceEnvironment(port),
    NODE_ENV: 'test',
    DATABASE_URL: databaseUrl,
    ROLE: 'api',
  });
  const routes = [];
  const watch = ({ fastify }) =>
    fastify.addHook('onRoute', ({ method, url }) => {
      if ([method].flat().includes('GET') && !url.includes('*')) routes.push(url);
    });
  diagnostics.subscribe('fastify.initialization', watch);
  const log = [];
  const app = await createApp(settings, createLog('warn', { write: (line) => void log.push(line) }));
  diagnostics.unsubscribe('fastify.initialization', watch);
  await app.listen(port, '127.0.0.1');
  const tokens = app.get(AccessTokensService, { strict: false });
  return {
    routes: [...new Set(routes)],
    log,
    url: settings.baseUrl,
    tokenOf: async (clientId, scopes) => (await tokens.issueForClient(clientId, scopes)).accessToken,
    stop: () => app.close(),
  };
}

async function measureAll(service, query) {
  const cookies = await sessionsOf(query);
  const values = await valuesOf(query);
  const tokens = {
    'admin token': await service.tokenOf(await addAdminClient(query), ['admin:read']),
    'client token': await service.tokenOf(LARGEST, ['charging_session:read', 'vehicle:read']),
  };
  const measured = [];
  for (const route of service.routes.toSorted()) {
    if (!route.startsWith(options.only)) continue;
    const area = AREAS.find(([start]) => route.startsWith(start))[1];
    const path = pathOf(route, values);
    if (area === undefined || path === undefined) continue;
    const headers = { accept: 'text/html,*/*', ...(cookies[area] && { cookie: cookies[area][0] }) };
    if (tokens[area])
      Object.assign(headers, {
        authorization: `Bearer ${tokens[area]}`,
        accept: 'application/json',
        'service-version': '2',
      });
    for (const search of QUERIES[route] ?? ['']) {
      measured.push({
        route: route + search,
        ...(await measureOne(service.url + path + search, headers, query)),
      });
    }
  }
  report(measured, service);
}

/** The path of a route with something for each of its parameters; undefined if nothing is known that could stand there. */
function pathOf(route, values) {
  let isKnown = true;
  const path = route.replace(/([^/]+)\/:(\w+)/g, (_all, before) => {
    isKnown &&= values[before] !== undefined;
    return `${before}/${values[before]}`;
  });
  return isKnown && !path.includes(':') ? path : undefined;
}

/** After requests that warm up, the median of the next ones. */
async function measureOne(address, headers, query) {
  const once = async () => {
    await query('SELECT pg_stat_statements_reset()');
    const [begun, before] = [performance.now(), process.cpuUsage()];
    const answer = await fetch(address, { headers, redirect: 'manual', signal: AbortSignal.timeout(60_000) });
    const { byteLength } = await answer.arrayBuffer();
    const { user, system } = process.cpuUsage(before);
    const took = performance.now() - begun;
    const [of] = await query(
      `SELECT coalesce(sum(calls), 0)::int AS statements, coalesce(sum(total_exec_time + total_plan_time), 0) AS ms, coalesce(sum(shared_blks_hit + shared_blks_read), 0)::int AS pages
         FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid WHERE d.datname = current_database() AND query !~ 'pg_stat_statements'`,
    );
    return { status: answer.status, bytes: byteLength, took, processor: (user + system) / 1000, ...of };
  };
  const { took } = await once();
  for (let n = 1; n < WARM_UP && took < CHEAP_MS; n++) await once();
  const all = [];
  for (let n = 0; n < TIMES; n++) all.push(await once());
  const of = (name) => median(all.map((each) => each[name]));
  return Object.fromEntries(Object.keys(all[0]).map((name) => [name, of(name)]));
}

function report(measured, { log }) {
  const cost = ({ processor, ms }) => processor + ms;
  const dearest = measured.toSorted((one, other) => cost(other) - cost(one));
  say(`\n${measured.length} addresses were measured; these cost most.\n`);
  say(
    '| Address | status | service, ms of the processor | database, ms | pages | statements | kB | answered in, ms |',
  );
  say('|---|---|---:|---:|---:|---:|---:|---:|');
  for (const { route, status, processor, ms, pages, statements, bytes, took } of dearest.slice(0, LISTED)) {
    const cells = [
      processor.toFixed(1),
      ms.toFixed(1),
      pages,
      statements,
      (bytes / 1000).toFixed(0),
      took.toFixed(0),
    ];
    say(`| \`${route}\` | ${status} | ${cells.join(' | ')} |`);
  }
  const refused = measured.filter(({ status }) => status >= 400);
  if (refused.length > 0)
    say(`\nRefused: ${refused.map(({ route, status }) => `${route} (${status})`).join(', ')}`);
  const failed = log.filter((line) => line.includes('"error"'));
  if (failed.length > 0) say(`\nErrors in the log:\n${failed.slice(0, 5).join('')}`);
}
