/**
 * The cost of the rate limiter for a request. Needs `npm run build`; everything runs on loopback and takes less than a minute:
 *
 *   node bench/rate-limiter.mjs                                    in memory
 *   REDIS_URL=redis://127.0.0.1:6379 node bench/rate-limiter.mjs   and with Redis, where it leaves keys that expire
 *
 * The service and an embedded PostgreSQL are started for the measurement; a thread of its own sends the requests. The ways to
 * count take turns within each round, so that other work on the machine affects all of them; the results are medians over the
 * rounds. The cost of a way is its processor time per request minus that without the limiter in the same round.
 */
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { Pool } from 'undici';
import { load } from './dist.mjs';
import { startEmbeddedService } from './embedded-service.mjs';

const ROUNDS = 25;
const ROUND_MS = 350;
const WARM_UP_MS = 1500;
const CONNECTIONS = 8;
const HOUR_MS = 3_600_000;
const MANY = 1_000_000_000;
const MEMORY_CALLS = 200_000;
const REDIS_CALLS = 3_000;
const REDIS_AT_ONCE = 50;

if (isMainThread) await main();
else sendRequests();

async function main() {
  const { MemoryRateLimitStore } = await load('access/rate-limits/store/memory-rate-limit-store.js');
  const shared = process.env.REDIS_URL ? await sharedStore(process.env.REDIS_URL) : undefined;
  say('One decision of the store');
  await measureMemory(() => new MemoryRateLimitStore());
  if (shared) await measureRedis(shared);
  const service = await startService();
  try {
    await measureRequests(service, { memory: new MemoryRateLimitStore(), redis: shared });
  } finally {
    await service.stop();
    await shared?.close();
  }
}

async function measureMemory(newStore) {
  const keys = Array.from({ length: 10_000 }, (_, n) => `partner:clnt${n}:user${n}`);
  for (const [name, count] of [
    ['in memory, one key', 1],
    ['in memory, 10 000 keys', keys.length],
  ]) {
    const times = [];
    for (let round = 0; round < 5; round++) {
      const store = newStore();
      times.push(await timeOf(MEMORY_CALLS, async (n) => store.consume(keys[n % count], MANY, HOUR_MS)));
    }
    say(row(name, `${Math.round(median(times) * 1e6)} ns`));
  }
}

async function measureRedis(store) {
  const alone = [];
  const together = [];
  for (let round = 0; round < 5; round++) {
    alone.push(await timeOf(REDIS_CALLS, (n) => store.consume(`bench:alone${n % 100}`, MANY, HOUR_MS)));
    together.push(
      await timeOf(REDIS_CALLS / REDIS_AT_ONCE, () =>
        Promise.all(
          Array.from({ length: REDIS_AT_ONCE }, (_, n) => store.consume(`bench:together${n}`, MANY, HOUR_MS)),
        ),
      ),
    );
  }
  say(row('over Redis, one at a time', `${Math.round(median(alone) * 1e3)} µs`));
  say(
    row(
      `over Redis, ${REDIS_AT_ONCE} at a time, each`,
      `${Math.round((median(together) * 1e3) / REDIS_AT_ONCE)} µs`,
    ),
  );
}

async function measureRequests({ app, url, bearer }, { memory, redis }) {
  const { RateLimitsService } = await load('access/rate-limits/rate-limits.service.js');
  const { PartnerRateLimitGuard } = await load('access/rate-limits/partners/partner-rate-limit.guard.js');
  const limits = app.get(RateLimitsService, { strict: false });
  const guard = PartnerRateLimitGuard.prototype;
  const limited = guard.canActivate;
  const without = 'without the limiter';
  const withStore = (store) => () => {
    guard.canActivate = limited;
    limits.store = store;
  };
  const allowAll = { consume: async () => ({ allowed: true, remaining: 1, retryAfterMs: 0 }) };
  const ways = {
    [without]: () => (guard.canActivate = async () => true),
    'a store that allows everything': withStore(allowAll),
    'counting in memory': withStore(memory),
    ...(redis ? { 'counting in Redis': withStore(redis) } : {}),
  };
  const requests = await startLoad(url, bearer);
  await requests.run(WARM_UP_MS);
  const results = Object.fromEntries(Object.keys(ways).map((way) => [way, []]));
  for (let round = 0; round < ROUNDS; round++) {
    const order = Object.keys(ways).map((_, n, names) => names[(n + round) % names.length]);
    for (const way of order) {
      ways[way]();
      results[way].push(await requests.run(ROUND_MS));
    }
  }
  requests.end();
  say(`\nGET /v2/users, ${CONNECTIONS} connections, medians of ${ROUNDS} rounds`);
  for (const [way, rounds] of Object.entries(results)) {
    const added = rounds.map(({ processor }, n) => processor - results[without][n].processor);
    say(
      row(
        way,
        `${Math.round(median(rounds.map(({ rate }) => rate)))} requests/s`,
        way === without ? '' : `${median(added).toFixed(1)} µs more`,
      ),
    );
  }
}

/** Starts the service with an embedded database, a client with a practically unlimited rate, and one of its tokens. */
async function startService() {
  const { app, url, stop } = await startEmbeddedService();
  return { app, url, bearer: await newToken(app), stop };
}

async function newToken(app) {
  const { UsersService } = await load('access/users/accounts/users.service.js');
  const { ClientsService } = await load('access/clients/clients.service.js');
  const { AccessTokensService } = await load('access/tokens/access/access-tokens.service.js');
  const { SERVICE_ACTOR } = await load('records/audit/audit.service.js');
  const get = (type) => app.get(type, { strict: false });
  const owner = await get(UsersService).create({ email: 'bench@mail.example', name: 'Bench' }, SERVICE_ACTOR);
  const scopes = ['charging_session:read'];
  const { client } = await get(ClientsService).create(
    {
      name: 'Bench',
      type: 'confidential',
      grantTypes: ['client_credentials'],
      scopes,
      redirectUris: [],
      ownerId: owner.id,
      rateLimit: MANY,
    },
    SERVICE_ACTOR,
  );
  return (await get(AccessTokensService).issueForClient(client.id, scopes)).accessToken;
}

async function sharedStore(url) {
  const { SharedRateLimitStore } = await load('access/rate-limits/store/shared-rate-limit-store.js');
  const store = new SharedRateLimitStore(url, { logger: { log: () => undefined, warn: say } });
  await store.ready();
  if (!store.shared) throw new Error('There is no Redis at REDIS_URL');
  return store;
}

/** Starts a thread that sends requests on demand. */
async function startLoad(url, bearer) {
  const worker = new Worker(fileURLToPath(import.meta.url), { workerData: { url, bearer } });
  /** Returns requests per second and the processor microseconds per request, including those for sending it. */
  const run = async (milliseconds) => {
    const before = process.cpuUsage();
    worker.postMessage(milliseconds);
    const [{ rate, served }] = await once(worker, 'message');
    const { user, system } = process.cpuUsage(before);
    return { rate, processor: (user + system) / served };
  };
  return { run, end: () => void worker.terminate() };
}

function sendRequests() {
  const pool = new Pool(workerData.url, { connections: CONNECTIONS, pipelining: 1 });
  const headers = { authorization: `Bearer ${workerData.bearer}` };
  const send = async () => {
    const { statusCode, body } = await pool.request({ path: '/v2/users', method: 'GET', headers });
    await body.dump();
    if (statusCode !== 200) throw new Error(`answered with ${statusCode}`);
  };
  parentPort.on('message', async (milliseconds) => {
    const begun = performance.now();
    let served = 0;
    const one = async () => {
      for (; performance.now() - begun < milliseconds; served++) await send();
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, one));
    parentPort.postMessage({ served, rate: (served * 1000) / (performance.now() - begun) });
  });
}

/** The milliseconds per call, over the given number of sequential calls. */
async function timeOf(calls, call) {
  const begun = performance.now();
  for (let n = 0; n < calls; n++) await call(n);
  return (performance.now() - begun) / calls;
}

function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
}

function row(name, ...cells) {
  return `  ${name.padEnd(34)}${cells.map((cell) => cell.padStart(18)).join('  ')}`.trimEnd();
}

function say(line) {
  process.stdout.write(`${line}\n`);
}
