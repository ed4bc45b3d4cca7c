import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { ClientEntity } from '#access/clients/client.entity.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { Factory, Http, TYPE, until, WEBHOOK_ENV } from '../support/spec.js';
import { Receiver, type ReceivedRequest } from '../support/receiver.js';
import { SHUTDOWN_LIMITS, SpawnedService } from '../support/spawned-service.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { untilAccepted } from '../support/webhooks.js';
import { freePort, startInstance, TEST_ENCRYPTION_KEY } from '../support/test-service.js';

const EVENTS = process.env.NIGHTLY ? 5_000 : 300;
const ENDPOINTS = 20;
const PUBLISHERS = 40;
const KILLS_AT = [0.2, 0.5, 0.8].map((part) => part * EVENTS);

describe('deliveries, when the process is killed or stopped,', () => {
  let database: TestDatabase;
  let receiver: Receiver;
  let service: SpawnedService;
  let http: Http;
  let bearer: string;
  let port: number;
  let reply: (response: ServerResponse, request: ReceivedRequest) => void;
  const clients: ClientEntity[] = [];
  const users: UserEntity[] = [];

  /** The time of a stop, and that of an attempt, pass only when the test says so. */
  const start = () =>
    new SpawnedService(
      {
        ...WEBHOOK_ENV,
        NODE_ENV: 'production',
        PORT: String(port),
        BASE_URL: http.url,
        DATABASE_URL: database.url,
        ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
        LOG_LEVEL: 'warn',
        WEBHOOK_RETRY_SCHEDULE_SECONDS: Array(30).fill(1).join(),
      },
      { heldTimers: [...Object.values(SHUTDOWN_LIMITS), '10000-15000:guarded-http-client'] },
    ).ready();

  /** An instance that then stops creates what is needed: client n of twenty has an endpoint `/n`. */
  beforeAll(async () => {
    database = await createTestDatabase();
    receiver = await Receiver.start((response, request) => reply(response, request));
    port = await freePort();
    http = new Http(`http://127.0.0.1:${port}`);
    const instance = await startInstance(database, WEBHOOK_ENV);
    const make = new Factory(instance);
    bearer = await make.adminToken();
    const { id: ownerId } = await make.user({ password: undefined });
    for (let n = 0; n < ENDPOINTS; n++) {
      const client = await make.client({ ownerId });
      const json = { url: receiver.url(`/${n}`), event_types: [TYPE] };
      const path = `/admin/clients/${client.id}/webhook_endpoints`;
      expect((await instance.http.send(path, { bearer, json })).status).toBe(201);
      clients.push(client);
      users.push(await make.user({ password: undefined }));
    }
    // Each user's events go to two clients.
    for (const [n, user] of users.entries()) {
      await make.consent(clients[n]!, user);
      await make.consent(clients[(n + 1) % ENDPOINTS]!, user);
    }
    await instance.app.close();
  });
  beforeEach(async () => {
    await database.query('TRUNCATE events CASCADE');
    receiver.requests.length = 0;
    service = await start();
  });
  afterEach(() => SpawnedService.killAll());
  afterAll(async () => {
    await SpawnedService.killAll();
    await receiver.stop();
    await database.drop();
  });

  function publish(user: UserEntity, n: number): Promise<void> {
    const json = { type: TYPE, user_id: user.id, timestamp: '2026-01-01T00:00:00Z', data: { n } };
    const headers = { 'idempotency-key': `event-${n}` };
    return untilAccepted(() => http.send('/v2/events', { bearer, headers, json }));
  }
  const idOf = ({ headers }: ReceivedRequest) => headers['webhook-id'] as string;
  const count = async (what: string) =>
    (await database.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${what}`))[0]!.n;

  it('are not lost once accepted, and are not sent once the consent is withdrawn', async () => {
    const [HANGING, FLAKY, WITHDRAWN] = ['/0', '/1', '/5'];
    const left = users[5]!;
    const held: ServerResponse[] = [];
    const ofWithdrawn: ServerResponse[] = [];
    let isHanging = true;
    let flaky = 0;
    let isWithdrawn = false;
    const late: string[] = [];
    reply = (response, { url, body }) => {
      const isOfLeft = body.includes(left.id);
      if (isOfLeft && isWithdrawn) late.push(url);
      if (url === HANGING && isHanging) return void held.push(response);
      if (url === FLAKY && flaky++ % 2 === 0) return void response.writeHead(500).end();
      // Some attempts must still be pending when the consent is withdrawn: they fail only then.
      if (url === WITHDRAWN && isOfLeft) return void ofWithdrawn.push(response);
      response.end('ok');
    };
    let [next, accepted] = [0, 0];
    const publishing = Promise.all(
      Array.from({ length: PUBLISHERS }, async () => {
        for (let n = next++; n < EVENTS; n = next++, accepted++) await publish(users[n % ENDPOINTS]!, n);
      }),
    );
    for (const at of KILLS_AT) {
      await until(`${at} are accepted`, () => accepted >= at);
      service.signal('SIGKILL');
      await service.exit();
      // As if the leases of the killed process were over; test/medium/delivery-queue.spec.ts proves how long they last.
      await database.query('UPDATE deliveries SET next_attempt_at = now() WHERE lease_id IS NOT NULL');
      service = await start();
    }
    await publishing;
    const consent = `/admin/clients/${clients[5]!.id}/consents/${left.id}`;
    const consentOfOther = `/admin/clients/${clients[6]!.id}/consents/${left.id}`;
    for (const path of [consent, consentOfOther])
      expect((await http.send(path, { method: 'DELETE', bearer })).status).toBe(204);
    // Deliveries that are already claimed, or by a statement that began before, may be sent; deliveries claimed later must not.
    const [{ at: withdrawnAt }] = (await database.query<{ at: string }>(
      'SELECT clock_timestamp()::text AS at',
    )) as [{ at: string }];
    await until('the statements of before have ended', async () => {
      const running = await database.query(
        `SELECT 1 FROM pg_stat_activity
          WHERE datname = current_database() AND xact_start < $1::timestamptz AND pid <> pg_backend_pid()`,
        [withdrawnAt],
      );
      return running.length === 0;
    });
    const ofLeft = 'deliveries d JOIN events e ON e.id = d.event_id WHERE e.user_id = $1 AND lease_id';
    const inHand = await database.query<{ lease: string }>(
      `SELECT lease_id AS lease FROM ${ofLeft} IS NOT NULL`,
      [left.id],
    );
    const leases = inHand.map(({ lease }) => lease);
    await until('what was claimed before has ended', async () => {
      for (const response of ofWithdrawn.splice(0)) response.writeHead(500).end();
      return (await database.query(`SELECT 1 FROM ${ofLeft} = ANY ($2)`, [left.id, leases])).length === 0;
    });
    isWithdrawn = true;
    expect(await count("events WHERE type NOT LIKE 'user.%'")).toBe(EVENTS);
    expect(await count('deliveries')).toBe(2 * EVENTS);
    const ended = "state <> 'pending'";
    const endpointOf = (path: string) =>
      `(SELECT id FROM webhook_endpoints WHERE url LIKE '%${path}' AND client_id = '${clients[Number(path.slice(1))]!.id}')`;
    // All except those of the endpoint that hangs, which must not delay the others.
    await until(
      'every delivery to the others has ended',
      async () =>
        (await count(`deliveries WHERE endpoint_id <> ${endpointOf(HANGING)} AND NOT (${ended})`)) === 0,
    );
    isHanging = false;
    for (const response of held) response.end('ok');
    await until(
      'the last delivery has ended',
      async () => (await count(`deliveries WHERE NOT (${ended})`)) === 0,
    );
    expect(await count('deliveries WHERE lease_id IS NOT NULL')).toBe(0);
    const states = await database.query<{ state: string; reason: string; user_id: string; n: number }>(
      `SELECT d.state, d.cancel_reason AS reason, count(*)::int AS n FROM deliveries d JOIN events e ON e.id = d.event_id
        WHERE e.user_id <> $1 GROUP BY 1, 2`,
      [left.id],
    );
    expect(states).toEqual([{ state: 'delivered', reason: null, n: 2 * EVENTS - (2 * EVENTS) / ENDPOINTS }]);
    expect(late).toEqual([]);
    const withdrawn = await database.query<{ state: string; reason: string }>(
      `SELECT DISTINCT state, cancel_reason AS reason FROM deliveries WHERE endpoint_id = ${endpointOf(WITHDRAWN)}
          AND event_id IN (SELECT id FROM events WHERE user_id = $1)`,
      [left.id],
    );
    expect(withdrawn).toEqual([{ state: 'cancelled', reason: 'consent_withdrawn' }]);
    // The receivers agree: each has received each event at least once.
    const heard = new Set(receiver.requests.map(idOf));
    const delivered = await database.query<{ id: string }>(
      "SELECT id FROM deliveries WHERE state = 'delivered'",
    );
    expect(delivered.filter(({ id }) => !heard.has(id))).toEqual([]);
  });

  it('are finished or returned to the queue on a stop, and an attempt that was cut off does not count', async () => {
    const slow = new Set(['/3', '/4']);
    const held: ServerResponse[] = [];
    const quick: ServerResponse[] = [];
    reply = (response, { url }) => void (slow.has(url) ? held : quick).push(response);
    // To the clients 2 and 3, 3 and 4, 4 and 5.
    for (const n of [2, 3, 4, 2, 3, 4])
      await publish(users[n]!, 10_000 + receiver.requests.length + Math.random());
    await until('all are in hand', () => receiver.requests.length === 12);
    let closed = 0;
    const cutOff = Promise.all(held.map((response) => once(response, 'close').then(() => closed++)));
    service.signal('SIGTERM');
    await until('it takes nothing new', () =>
      http.get('/health/live').then(
        () => false,
        () => true,
      ),
    );
    for (const response of quick) response.end('ok');
    await until(
      'the quick ones are delivered',
      async () => (await count("deliveries WHERE state = 'delivered'")) === quick.length,
    );
    expect(closed).toBe(0);
    // Contract §14: deliveries that still run after 8 s.
    service.letTimersPass();
    await cutOff;
    expect(await service.exit()).toBe(0);
    const rows = await database.query<Record<string, unknown>>(
      `SELECT url LIKE '%/3' OR url LIKE '%/4' AS slow, state, attempts, retries, lease_id, next_attempt_at <= now() AS due, count(*)::int AS n
         FROM deliveries d JOIN webhook_endpoints e ON e.id = d.endpoint_id GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1`,
    );
    expect(rows).toEqual([
      { slow: false, state: 'delivered', attempts: 1, retries: 0, lease_id: null, due: null, n: 4 },
      { slow: true, state: 'pending', attempts: 0, retries: 0, lease_id: null, due: true, n: 8 },
    ]);
    expect(await count('delivery_attempts')).toBe(4);
    expect(service.printed).not.toMatch(/"level":(40|50|60)/);
    reply = (response) => void response.end('ok');
    service = await start();
    await until(
      'they are delivered',
      async () => (await count("deliveries WHERE state = 'delivered'")) === 12,
    );
    expect(await service.stop()).toBe(0);
  });
});
