import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { setTimeout as pause } from 'node:timers/promises';
import { Factory, Http, TYPE, until, WEBHOOK_ENV } from '../support/spec.js';
import { Receiver } from '../support/receiver.js';
import { SpawnedService } from '../support/spawned-service.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { freePort, startInstance, TEST_ENCRYPTION_KEY } from '../support/test-service.js';

const USERS = 6;
const EVENTS = process.env.NIGHTLY ? 84 : 28;
/** One event of each user in so many is refused until its retries are used up. */
const REFUSED_EVERY = 7;

interface Sent {
  id: string;
  user_id: string;
  state: string;
}

describe('an ordered endpoint of two instances that are killed again and again', () => {
  let database: TestDatabase;
  let receiver: Receiver;
  let bearer: string;
  const users: UserEntity[] = [];
  const services: SpawnedService[] = [];
  const https: Http[] = [];

  const start = (n: number) =>
    new SpawnedService({
      ...WEBHOOK_ENV,
      NODE_ENV: 'production',
      PORT: new URL(https[n]!.url).port,
      BASE_URL: https[0]!.url,
      DATABASE_URL: database.url,
      ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
      LOG_LEVEL: 'warn',
      WEBHOOK_RETRY_SCHEDULE_SECONDS: '1,1,1',
    }).ready();

  beforeAll(async () => {
    database = await createTestDatabase();
    receiver = await Receiver.start((response, { body }) => {
      const { data } = JSON.parse(body) as { data: { n: number } };
      const isRefused = data.n % REFUSED_EVERY === REFUSED_EVERY - 1;
      response.writeHead(isRefused || Math.random() < 0.25 ? 500 : 204).end();
    });
    for (let n = 0; n < 2; n++) https.push(new Http(`http://127.0.0.1:${await freePort()}`));
    const instance = await startInstance(database, WEBHOOK_ENV);
    const make = new Factory(instance);
    bearer = await make.adminToken();
    const client = await make.client({ ownerId: (await make.user({ password: undefined })).id });
    const json = { url: receiver.url('/'), event_types: [TYPE], ordered: true };
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

  it('gets no event of a user before an earlier one, and is told of each that it did not get', async () => {
    for (let n = 0; n < 2; n++) services.push(await start(n));
    // Two at a time for each user, so that both instances store events of one user at the same moment.
    const publishing = Promise.all(
      users.flatMap((user) =>
        [0, 1].map(async (first) => {
          for (let n = first; n < EVENTS; n += 2) await publish(user, n);
        }),
      ),
    );
    const pending = async () =>
      (
        await database.query<{ n: number }>(
          "SELECT count(*)::int AS n FROM deliveries WHERE state = 'pending'",
        )
      )[0]!.n;
    let isPublished = false;
    void publishing.then(() => (isPublished = true));
    const isOver = async () => isPublished && (await pending()) === 0;
    let kills = 0;
    for (; !(await isOver()); kills++) {
      const seen = receiver.requests.length;
      await until(
        'some more have arrived, or all',
        async () => receiver.requests.length >= seen + 3 + (kills % 5) || (await isOver()),
      );
      // One after the other, and now and then both.
      const killed = kills % 3 === 2 ? [0, 1] : [kills % 2];
      for (const n of killed) services[n]!.signal('SIGKILL');
      await Promise.all(killed.map((n) => services[n]!.exit()));
      // As if their leases were over; test/medium/delivery-queue.spec.ts proves how long they last.
      await database.query('UPDATE deliveries SET next_attempt_at = now() WHERE lease_id IS NOT NULL');
      await Promise.all(killed.map(async (n) => (services[n] = await start(n))));
    }
    await publishing;
    expect(kills).toBeGreaterThanOrEqual(3);
    // The order of the feed.
    const stored = await database.query<Sent>(
      `SELECT e.id, e.user_id, d.state FROM events e JOIN deliveries d ON d.event_id = e.id
        WHERE e.type = $1 ORDER BY e.xid, e.id`,
      [TYPE],
    );
    expect(stored).toHaveLength(USERS * EVENTS);
    const arrived = receiver.requests.map(({ body, headers }) => ({
      id: (JSON.parse(body) as { id: string }).id,
      gap: headers['webhook-sequence-gap'],
    }));
    const firstTimes = [...new Set(arrived.map(({ id }) => id))];
    const lastGap = new Map(arrived.map(({ id, gap }) => [id, gap]));
    for (const user of users) {
      const own = stored.filter(({ user_id: id }) => id === user.id);
      const ids = own.map(({ id }) => id);
      expect(firstTimes.filter((id) => ids.includes(id))).toEqual(ids);
      let missing = 0;
      for (const { id, state } of own) {
        expect([id, lastGap.get(id)]).toEqual([id, missing === 0 ? undefined : String(missing)]);
        missing = state === 'delivered' ? 0 : missing + 1;
      }
    }
    const failed = stored.filter(({ state }) => state === 'failed');
    expect(failed.length).toBeGreaterThanOrEqual(USERS * Math.floor(EVENTS / REFUSED_EVERY));
    for (const service of services) expect(await service.stop()).toBe(0);
  });
});
