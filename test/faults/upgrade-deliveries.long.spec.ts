import type { ServerResponse } from 'node:http';
import type { ClientEntity } from '#access/clients/client.entity.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { unpackPreviousRelease } from '../support/previous-release.js';
import { Receiver } from '../support/receiver.js';
import { Factory, freePort, Http, TEST_ENCRYPTION_KEY, TYPE, until, WEBHOOK_ENV } from '../support/spec.js';
import { SpawnedService } from '../support/spawned-service.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { startInstance } from '../support/test-service.js';

const ENDPOINTS = 5;
const EVENTS = 60;

describe('deliveries, with the release before on the same database,', () => {
  let database: TestDatabase;
  let receiver: Receiver;
  let previous: string;
  let bearer: string;
  let user: UserEntity;
  let reply: (response: ServerResponse, id: string) => void;
  const clients: ClientEntity[] = [];
  /** How often each delivery was heard. */
  const heard = new Map<string, number>();
  let published = 0;

  const start = async (folder?: string, more: Record<string, string> = {}) => {
    const port = await freePort();
    const http = new Http(`http://127.0.0.1:${port}`);
    const env = {
      ...{
        ...WEBHOOK_ENV,
        NODE_ENV: 'production',
        PORT: String(port),
        BASE_URL: http.url,
        LOG_LEVEL: 'warn',
      },
      ...{ DATABASE_URL: database.serviceUrl!, MIGRATE_ON_START: 'false', DATABASE_POOL_SIZE: '6' },
      ...{ ENCRYPTION_KEY: TEST_ENCRYPTION_KEY, WEBHOOK_RETRY_SCHEDULE_SECONDS: Array(50).fill(1).join() },
      ...more,
    };
    return { http, service: await new SpawnedService(env, { folder }).ready() };
  };

  beforeAll(async () => {
    previous = await unpackPreviousRelease();
    database = await createTestDatabase();
    receiver = await Receiver.start((response, { headers }) => {
      const id = headers['webhook-id'] as string;
      heard.set(id, (heard.get(id) ?? 0) + 1);
      reply(response, id);
    });
    const instance = await startInstance(database, { ...WEBHOOK_ENV, ROLE: 'api' });
    const make = new Factory(instance);
    bearer = await make.adminToken();
    user = await make.user({ password: undefined });
    for (let n = 0; n < ENDPOINTS; n++) {
      const client = await make.client({ ownerId: user.id });
      const json = { url: receiver.url(`/${n}`), event_types: [TYPE] };
      const path = `/admin/clients/${client.id}/webhook_endpoints`;
      expect((await instance.http.send(path, { bearer, json })).status).toBe(201);
      await make.consent(client, user);
      clients.push(client);
    }
    await instance.app.close();
  });
  beforeEach(async () => {
    await database.query('TRUNCATE events CASCADE');
    heard.clear();
    published = 0;
    reply = (response) => void response.end('ok');
  });
  afterEach(() => SpawnedService.killAll());
  afterAll(async () => {
    await receiver.stop();
    await database.drop();
  });

  async function publish(http: Http): Promise<void> {
    const json = { type: TYPE, user_id: user.id, timestamp: '2026-01-01T00:00:00Z', data: {} };
    expect((await http.send('/v2/events', { bearer, json })).status).toBe(202);
    published++;
  }
  const publishMany = async (...to: Http[]) => {
    for (let n = 0; n < EVENTS; n++) await publish(to[n % to.length]!);
  };
  const untilAllHaveEnded = () =>
    until('all have ended', async () => {
      const [row] = await database.query<{ n: number }>(
        "SELECT count(*)::int AS n FROM deliveries WHERE state <> 'pending'",
      );
      return row!.n === published * ENDPOINTS;
    });
  /** Everything published has arrived; returns what was heard more than once. */
  const heardAgain = async (): Promise<string[]> => {
    const all = await database.query<{ id: string; state: string }>('SELECT id, state FROM deliveries');
    expect(all.filter(({ state }) => state !== 'delivered')).toEqual([]);
    expect([...heard.keys()].sort()).toEqual(all.map(({ id }) => id).sort());
    return [...heard].flatMap(([id, times]) => (times > 1 ? id : []));
  };

  it('arrive once each while both publish and deliver', async () => {
    const [old, present] = [await start(previous), await start()];
    await publishMany(old.http, present.http);
    await untilAllHaveEnded();
    expect(await heardAgain()).toEqual([]);
    expect(await Promise.all([old, present].map(({ service }) => service.stop()))).toEqual([0, 0]);
  });

  it('are made by the release before alone when it is rolled back to: what is new, what waits for a retry, and what a killed instance had in hand', async () => {
    const held = new Set<string>();
    const failed = new Set<string>();
    reply = (response, id) => {
      if (held.size < 20) return void held.add(id);
      failed.add(id);
      response.writeHead(500).end();
    };
    const present = await start();
    await publishMany(present.http);
    await until('some are under way, and others have failed', () => held.size === 20 && failed.size > 20);
    present.service.signal('SIGKILL');
    await present.service.exit();
    // Nobody delivers these.
    const api = await start(undefined, { ROLE: 'api' });
    await publishMany(api.http);
    expect(await api.service.stop()).toBe(0);
    reply = (response) => void response.end('ok');
    const before = new Map(heard);
    // As if the leases of the killed process were over; test/medium/delivery-queue.spec.ts proves how long they last.
    await database.query('UPDATE deliveries SET next_attempt_at = now() WHERE lease_id IS NOT NULL');
    const old = await start(previous);
    await untilAllHaveEnded();
    const again = await heardAgain();
    expect(again.filter((id) => !before.has(id))).toEqual([]);
    // And forward again, with what that has left.
    await publishMany(old.http);
    old.service.signal('SIGKILL');
    await old.service.exit();
    await database.query('UPDATE deliveries SET next_attempt_at = now() WHERE lease_id IS NOT NULL');
    await start();
    await untilAllHaveEnded();
    await heardAgain();
  });
});
