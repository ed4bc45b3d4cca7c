/**
 * The throughput and latency of webhook deliveries. Needs `npm run build`; everything runs on loopback and takes two minutes:
 *
 *   node bench/deliveries.mjs
 *
 * One process of the service over an embedded PostgreSQL; the receiver and the publisher have threads of their own. Measured:
 * deliveries per second out of a full queue, compared with a bare loop that only posts the same bodies; the time from the
 * publisher's 202 to the first attempt; and how much one endpoint that never answers slows down nineteen others.
 */
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { Pool } from 'undici';
import { DATA, ENDPOINTS, fillQueue, postAll, TYPE } from './delivery-queue.mjs';
import { load } from './dist.mjs';
import { startEmbeddedService } from './embedded-service.mjs';
import { startReceiver } from './receiver.mjs';

const QUEUED = 20_000;
const QUEUED_BESIDE_HANGING = 8_000;
const EVENTS_PER_SECOND = 100;
const SECONDS = 10;

if (isMainThread) await main();
else publish();

async function main() {
  const receiver = await startReceiver();
  const service = await startService();
  try {
    const setting = await makeSetting(service, receiver.port);
    await measureThroughput(service, receiver, setting);
    await measureLatency(service, receiver, setting);
    await measureHanging(service, receiver, setting);
  } finally {
    await service.stop();
    receiver.end();
  }
}

async function measureThroughput(service, receiver, setting) {
  say(`${QUEUED} deliveries to ${ENDPOINTS} endpoints`);
  await deliverQueue(service, receiver, setting, 2_000);
  const own = await deliverQueue(service, receiver, setting, QUEUED);
  const bare = await postAllBare(receiver, setting, QUEUED);
  say(row('the service', `${Math.round(own.rate)} a second`, `${Math.round(own.processor)} µs each`));
  say(
    row(
      'a bare loop that only posts',
      `${Math.round(bare.rate)} a second`,
      `${Math.round(bare.processor)} µs each`,
    ),
  );
}

async function measureLatency(service, receiver, { userId, bearer }) {
  await receiver.expect(Infinity);
  const worker = new Worker(fileURLToPath(import.meta.url), {
    workerData: { role: 'publisher', url: service.url, bearer, userId },
  });
  const [answered] = await once(worker, 'message');
  await pause(2_000);
  const arrived = await receiver.arrivals();
  const waits = answered.map((time, n) => Math.max(0, arrived.get(n) - time)).sort((a, b) => a - b);
  if (waits.some(Number.isNaN)) throw new Error('an event was not delivered');
  const share = (part) => waits[Math.floor(waits.length * part)];
  say(
    `\nTime from the 202 to the first attempt, at ${EVENTS_PER_SECOND} events a second, each to one endpoint`,
  );
  say(row('', `p50 ${share(0.5).toFixed(1)} ms`, `p95 ${share(0.95).toFixed(1)} ms`));
}

async function measureHanging(service, receiver, setting) {
  const others = ((ENDPOINTS - 1) / ENDPOINTS) * QUEUED_BESIDE_HANGING;
  const rates = { without: [], with: [] };
  for (const which of ['without', 'with', 'without', 'with']) {
    await receiver.hang(which === 'with');
    const { rate } = await deliverQueue(service, receiver, setting, QUEUED_BESIDE_HANGING, others);
    rates[which].push(rate);
    await receiver.hang(false);
    // The worker locks rows only briefly: rows that are locked now are deleted in the next iteration.
    for (let left = 1; left > 0;) {
      const [, count] = await service.query(
        `DELETE FROM deliveries WHERE id IN (SELECT id FROM deliveries WHERE state = 'pending' FOR UPDATE SKIP LOCKED)`,
      );
      left = count;
    }
    await pause(500);
  }
  const [without, with_] = [mean(rates.without), mean(rates.with)];
  say(`\nDeliveries to ${ENDPOINTS - 1} endpoints while one more endpoint`);
  say(row('answers', `${Math.round(without)} a second`));
  say(
    row(
      'never answers',
      `${Math.round(with_)} a second`,
      `${((1 - with_ / without) * 100).toFixed(1)} % less`,
    ),
  );
}

/** Fills the queue and waits until it is empty. Returns the deliveries per second from the first arrival to the last. */
async function deliverQueue(
  service,
  receiver,
  { endpointIds, clientId, eventId },
  deliveries,
  expected = deliveries,
) {
  const { finished } = await receiver.expect(expected);
  const before = process.cpuUsage();
  await fillQueue(service.databaseUrl, { endpointIds, clientId, eventId }, deliveries);
  const milliseconds = await finished;
  const { user, system } = process.cpuUsage(before);
  return { rate: (expected * 1000) / milliseconds, processor: (user + system) / expected };
}

/** The same number of posts without the service. */
async function postAllBare(receiver, { payload }, number) {
  const { finished } = await receiver.expect(number);
  const before = process.cpuUsage();
  await postAll({ port: receiver.port, payload, number });
  const milliseconds = await finished;
  const { user, system } = process.cpuUsage(before);
  return { rate: (number * 1000) / milliseconds, processor: (user + system) / number };
}

/** The service with an embedded database. */
async function startService() {
  const { DataSource } = await import('typeorm');
  const { app, url, databaseUrl, stop } = await startEmbeddedService({
    WEBHOOK_ALLOW_PRIVATE_ADDRESSES: 'true',
  });
  const get = (type) => app.get(type, { strict: false });
  const query = (sql, params) => get(DataSource).query(sql, params);
  return { url, databaseUrl, get, query, stop };
}

/**
 * Creates a client with its endpoints and a user who consented to it. Only the first endpoint is subscribed to the publisher's
 * events.
 */
async function makeSetting({ get, query }, port) {
  const { UsersService } = await load('access/users/accounts/users.service.js');
  const { ClientsService } = await load('access/clients/clients.service.js');
  const { ConsentApprovals } = await load('access/consents/consent-approvals.service.js');
  const { EndpointsService } = await load('events/webhooks/endpoints/endpoints.service.js');
  const { PublishingService } = await load('events/webhooks/events/publishing.service.js');
  const { AccessTokensService } = await load('access/tokens/access/access-tokens.service.js');
  const { SERVICE_ACTOR } = await load('records/audit/audit.service.js');
  const owner = await get(UsersService).create({ email: 'bench@mail.example', name: 'Bench' }, SERVICE_ACTOR);
  const newClient = async (scopes) =>
    (
      await get(ClientsService).create(
        {
          name: 'Bench',
          type: 'confidential',
          grantTypes: ['client_credentials'],
          scopes,
          redirectUris: [],
          ownerId: owner.id,
          companyService: scopes.includes('event:publish'),
        },
        SERVICE_ACTOR,
      )
    ).client;
  const client = await newClient(['vehicle:read']);
  await get(ConsentApprovals).record(client.id, owner.id, ['vehicle:read'], null, SERVICE_ACTOR);
  const endpointIds = [];
  for (let n = 0; n < ENDPOINTS; n++) {
    const eventTypes = [n === 0 ? TYPE : 'vehicle.deleted'];
    const input = { url: `http://127.0.0.1:${port}/${n}`, eventTypes };
    endpointIds.push((await get(EndpointsService).create(client.id, input, SERVICE_ACTOR)).endpoint.id);
  }
  const publisher = await newClient(['event:publish']);
  const timestamp = '2026-01-01T00:00:00Z';
  const event = { type: 'vehicle.created', userId: owner.id, timestamp, data: DATA };
  const { id: eventId } = await get(PublishingService).publish(event, { id: publisher.id, realm: 'live' });
  await query('UPDATE events SET type = $2 WHERE id = $1', [eventId, TYPE]);
  const [{ payload }] = await query('SELECT payload FROM events WHERE id = $1', [eventId]);
  const bearer = (await get(AccessTokensService).issueForClient(publisher.id, ['event:publish'])).accessToken;
  return { clientId: client.id, userId: owner.id, endpointIds, eventId, payload, bearer };
}

/** Publishes at a steady rate and reports when each event was answered. */
function publish() {
  const { url, bearer, userId } = workerData;
  const pool = new Pool(url, { connections: 16, pipelining: 1 });
  const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' };
  const answered = [];
  const one = async (n) => {
    const event = { type: TYPE, user_id: userId, timestamp: new Date().toISOString(), data: { ...DATA, n } };
    const { statusCode, body } = await pool.request({
      ...{ path: '/v2/events', method: 'POST', headers: { ...headers, 'idempotency-key': `bench-${n}` } },
      body: JSON.stringify(event),
    });
    answered[n] = performance.timeOrigin + performance.now();
    await body.dump();
    if (statusCode !== 202) throw new Error(`answered with ${statusCode}`);
  };
  const begun = performance.now();
  const all = [];
  const timer = setInterval(async () => {
    const due = Math.min(
      ((performance.now() - begun) / 1000) * EVENTS_PER_SECOND,
      EVENTS_PER_SECOND * SECONDS,
    );
    while (all.length < due) all.push(one(all.length));
    if (all.length < EVENTS_PER_SECOND * SECONDS) return;
    clearInterval(timer);
    await Promise.all(all);
    parentPort.postMessage(answered);
  }, 5);
}

function mean(numbers) {
  return numbers.reduce((sum, each) => sum + each) / numbers.length;
}

function row(name, ...cells) {
  return `  ${name.padEnd(30)}${cells.map((cell) => cell.padStart(18)).join('  ')}`.trimEnd();
}

function say(line) {
  process.stdout.write(`${line}\n`);
}
