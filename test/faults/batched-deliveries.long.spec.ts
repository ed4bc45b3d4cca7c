import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { setTimeout as pause } from 'node:timers/promises';
import { Factory, Http, TYPE, until, WEBHOOK_ENV } from '../support/spec.js';
import { Receiver } from '../support/receiver.js';
import { SpawnedService } from '../support/spawned-service.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { freePort, startInstance, TEST_ENCRYPTION_KEY } from '../support/test-service.js';

const USERS = 4;
/** In each of them so many events of each user are published, and something is killed meanwhile. */
const ROUNDS = process.env.NIGHTLY ? 12 : 4;
const EVENTS_IN_ROUND = 10;
const MAX = 5;

interface Batch {
  type: string;
  data: { id: string; user_id: string }[];
}

describe('an ordered endpoint with batches of two instances that are killed again and again', () => {
  let database: TestDatabase;
  let receiver: Receiver;
  let bearer: string;
  const users: UserEntity[] = [];
  const services: SpawnedService[] = [];
  const https: Http[] = [];
  const acknowledged = new Set<string>();

  const start = (n: number) =>
    new SpawnedService({
      ...WEBHOOK_ENV,
      NODE_ENV: 'production',
      PORT: new URL(https[n]!.url).port,
      BASE_URL: https[0]!.url,
      DATABASE_URL: database.url,
      ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
      LOG_LEVEL: 'warn',
      // Never used up.
      WEBHOOK_RETRY_SCHEDULE_SECONDS: Array(50).fill('1').join(),
    }).ready();

  beforeAll(async () => {
    database = await createTestDatabase();
    receiver = await Receiver.start((response, { body }) => {
      const { data } = JSON.parse(body) as Batch;
      const chance = Math.random();
      if (chance < 0.2) return void response.writeHead(500).end();
      // Some of it, or all.
      const failed = chance < 0.5 ? data.filter(() => Math.random() < 0.3).map(({ id }) => id) : [];
      for (const { id } of data) if (!failed.includes(id)) acknowledged.add(id);
      response.writeHead(207).end(JSON.stringify({ failed }));
    });
    for (let n = 0; n < 2; n++) https.push(new Http(`http://127.0.0.1:${await freePort()}`));
    const instance = await startInstance(database, WEBHOOK_ENV);
    const make = new Factory(instance);
    bearer = await make.adminToken();
    const client = await make.client({ ownerId: (await make.user({ password: undefined })).id });
    const batch = { max: MAX, wait_ms: 200 };
    const json = { url: receiver.url('/'), event_types: [TYPE], ordered: true, batch };
    const path = `/admin/clients/${client.id}/webhook_endpoints`;
    expect((await instance.http.send(path, { bearer, json })).status).toBe(201);
    for (let n = 0; n < USERS; n++) {
      users.push(await make.user({ password: undefined }));
      await make.consent(client, users[n]!);
    }
    await instance.app.close();
  });
  afterAll(async () => {
    await SpawnedService.killAll();
    await receiver.stop();
    await database.drop();
  });

  /** By one instance or the other, with the same key until it is accepted, as publishers do. */
  async function publish(user: UserEntity, n: number): Promise<void> {
    const json = { type: TYPE, user_id: user.id, timestamp: '2026-01-01T00:00:00Z', data: { n } };
    const headers = { 'idempotency-key': `${user.id}-${n}` };
    for (let attempt = n; ; attempt++) {
      const status = await https[attempt % 2]!.send('/v2/events', { bearer, headers, json }).then(
        (answer) => answer.status,
        () => 0,
      );
      if (status === 202) return;
      if (status !== 0 && status < 500) throw new Error(`refused with ${status}`);
      await pause(50);
    }
  }

  it('gets every event, and none of a user before an earlier one', async () => {
    for (let n = 0; n < 2; n++) services.push(await start(n));
    for (let round = 0; round < ROUNDS; round++) {
      const seen = receiver.requests.length;
      const publishing = Promise.all(
        users.flatMap((user) =>
          [0, 1].map(async (first) => {
            for (let n = first; n < EVENTS_IN_ROUND; n += 2) await publish(user, round * EVENTS_IN_ROUND + n);
          }),
        ),
      );
      // Eight requests at least are due in each round.
      await until('some have arrived', () => receiver.requests.length >= seen + 2 + (round % 4));
      // One after the other, and now and then both.
      const killed = round % 3 === 2 ? [0, 1] : [round % 2];
      for (const n of killed) services[n]!.signal('SIGKILL');
      await Promise.all(killed.map((n) => services[n]!.exit()));
      // As if their leases were over; test/medium/delivery-queue.spec.ts proves how long they last.
      await database.query('UPDATE deliveries SET next_attempt_at = now() WHERE lease_id IS NOT NULL');
      await Promise.all(killed.map(async (n) => (services[n] = await start(n))));
      await publishing;
    }
    await until('all has ended', async () => {
      const [row] = await database.query<{ n: number }>(
        "SELECT count(*)::int AS n FROM deliveries WHERE state = 'pending'",
      );
      return row!.n === 0;
    });
    // The order of the feed.
    const stored = await database.query<{ id: string; user_id: string; state: string }>(
      `SELECT e.id, e.user_id, d.state FROM events e JOIN deliveries d ON d.event_id = e.id
        WHERE e.type = $1 ORDER BY e.xid, e.id`,
      [TYPE],
    );
    expect(stored).toHaveLength(USERS * ROUNDS * EVENTS_IN_ROUND);
    expect(stored.filter(({ state, id }) => state !== 'delivered' || !acknowledged.has(id))).toEqual([]);
    const batches = receiver.requests.map(({ body }) => JSON.parse(body) as Batch);
    expect(Math.max(...batches.map(({ data }) => data.length))).toBe(MAX);
    const firstTimes = [...new Set(batches.flatMap(({ data }) => data.map(({ id }) => id)))];
    for (const user of users) {
      const ids = stored.filter(({ user_id: id }) => id === user.id).map(({ id }) => id);
      expect(firstTimes.filter((id) => ids.includes(id))).toEqual(ids);
      for (const { data } of batches) {
        const here = data.filter(({ user_id: id }) => id === user.id).map(({ id }) => ids.indexOf(id));
        expect(here).toEqual([...here].sort((a, b) => a - b));
      }
    }
    for (const service of services) expect(await service.stop()).toBe(0);
  });
});
