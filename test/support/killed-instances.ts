import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { Factory } from './factory.js';
import { Http } from './http.js';
import { Receiver, type Answer, type ReceivedRequest } from './receiver.js';
import { SpawnedService } from './spawned-service.js';
import { createTestDatabase, type TestDatabase } from './test-database.js';
import { freePort, startInstance, TEST_ENCRYPTION_KEY } from './test-service.js';
import { until } from './until.js';
import { TYPE, untilAccepted, WEBHOOK_ENV } from './webhooks.js';

interface EndpointSetting {
  /** Its members. */
  members: object;
  answer: Answer;
}

/** An event in the order of the feed, with the state of its delivery to an endpoint. */
interface Stored {
  id: string;
  user_id: string;
  state: string;
}

/** Two instances over a database of their own, which send to some endpoints of a client and are killed again and again. */
export function useKilledInstances<Name extends string>({
  users: userCount,
  retrySchedule,
  endpoints,
}: {
  /** How many users have consented to the client. */
  users: number;
  retrySchedule: string;
  endpoints: Record<Name, EndpointSetting>;
}) {
  let database: TestDatabase;
  let receiver: Receiver;
  let bearer: string;
  let published = 0;
  const users: UserEntity[] = [];
  const services: SpawnedService[] = [];
  const https: Http[] = [];

  const nameOf = ({ url }: ReceivedRequest) => url.slice(1) as Name;
  const start = (n: number) =>
    new SpawnedService({
      ...WEBHOOK_ENV,
      NODE_ENV: 'production',
      PORT: new URL(https[n]!.url).port,
      BASE_URL: https[0]!.url,
      DATABASE_URL: database.url,
      ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
      LOG_LEVEL: 'warn',
      WEBHOOK_RETRY_SCHEDULE_SECONDS: retrySchedule,
    }).ready();

  beforeAll(async () => {
    database = await createTestDatabase();
    receiver = await Receiver.start((response, request) =>
      endpoints[nameOf(request)].answer(response, request),
    );
    for (let n = 0; n < 2; n++) https.push(new Http(`http://127.0.0.1:${await freePort()}`));
    const instance = await startInstance(database, WEBHOOK_ENV);
    const make = new Factory(instance);
    bearer = await make.adminToken();
    const client = await make.client({ ownerId: (await make.user({ password: undefined })).id });
    for (const [name, { members }] of Object.entries<EndpointSetting>(endpoints)) {
      const json = { url: receiver.url(`/${name}`), event_types: [TYPE], ...members };
      const path = `/admin/clients/${client.id}/webhook_endpoints`;
      expect((await instance.http.send(path, { bearer, json })).status).toBe(201);
    }
    for (let n = 0; n < userCount; n++) {
      users.push(await make.user({ password: undefined }));
      await make.consent(client, users[n]!);
    }
    await instance.app.close();
    for (let n = 0; n < 2; n++) services.push(await start(n));
  });
  afterAll(async () => {
    await SpawnedService.killAll();
    await receiver.stop();
    await database.drop();
  });

  /** By one instance or the other. */
  function publish(user: UserEntity, n: number): Promise<void> {
    const json = { type: TYPE, user_id: user.id, timestamp: '2026-01-01T00:00:00Z', data: { n } };
    const headers = { 'idempotency-key': `${user.id}-${n}` };
    return untilAccepted((attempt) =>
      https[(n + attempt) % 2]!.send('/v2/events', { bearer, headers, json }),
    );
  }

  /** Two at a time for each user, so that both instances store events of one user at the same moment. */
  async function publishEach(count: number): Promise<void> {
    const from = published;
    published += count;
    await Promise.all(
      users.flatMap((user) =>
        [0, 1].map(async (first) => {
          for (let n = from + first; n < from + count; n += 2) await publish(user, n);
        }),
      ),
    );
  }

  async function kill(numbers: number[]): Promise<void> {
    for (const n of numbers) services[n]!.signal('SIGKILL');
    await Promise.all(numbers.map((n) => services[n]!.exit()));
    // As if their leases were over; test/medium/delivery-queue.spec.ts proves how long they last.
    await database.query('UPDATE deliveries SET next_attempt_at = now() WHERE lease_id IS NOT NULL');
    await Promise.all(numbers.map(async (n) => (services[n] = await start(n))));
  }

  return {
    users,
    requestsOf: (name: Name) => receiver.requests.filter((request) => nameOf(request) === name),
    /**
     * Publishes so many events of each user in each round, and kills one instance or the other, now and then both, when a few requests of
     * the round have arrived. Returns the events of each endpoint when all deliveries have ended.
     */
    async run(rounds: number, eventsInRound: number): Promise<Record<Name, Stored[]>> {
      for (let round = 0; round < rounds; round++) {
        const seen = receiver.requests.length;
        const publishing = publishEach(eventsInRound);
        await until('some have arrived', () => receiver.requests.length >= seen + 2 + (round % 4));
        await kill(round % 3 === 2 ? [0, 1] : [round % 2]);
        await publishing;
      }
      await until('all has ended', async () => {
        const [row] = await database.query<{ n: number }>(
          "SELECT count(*)::int AS n FROM deliveries WHERE state = 'pending'",
        );
        return row!.n === 0;
      });
      const stored = await database.query<Stored & { url: string }>(
        `SELECT e.id, e.user_id, d.state, p.url
           FROM events e JOIN deliveries d ON d.event_id = e.id JOIN webhook_endpoints p ON p.id = d.endpoint_id
          WHERE e.type = $1 ORDER BY e.xid, e.id`,
        [TYPE],
      );
      const names = Object.keys(endpoints) as Name[];
      expect(stored).toHaveLength(names.length * userCount * rounds * eventsInRound);
      for (const service of services) expect(await service.stop()).toBe(0);
      const storedOf = (name: Name): Stored[] => stored.filter(({ url }) => url === receiver.url(`/${name}`));
      return Object.fromEntries(names.map((name) => [name, storedOf(name)])) as Record<Name, Stored[]>;
    },
  };
}
