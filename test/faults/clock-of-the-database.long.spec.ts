import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { DeliveryWorker } from '#events/webhooks/deliveries/delivery-worker.service.js';
import { Factory, Http, TYPE, until, WEBHOOK_ENV } from '../support/spec.js';
import { Receiver } from '../support/receiver.js';
import { SpawnedService } from '../support/spawned-service.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { freePort, startInstance, TEST_ENCRYPTION_KEY, type TestInstance } from '../support/test-service.js';

const PRELOADED = pathToFileURL(path.join(process.cwd(), 'test', 'support', 'stepping-clock.mjs')).href;
const HOUR_MS = 3_600_000;

describe('two instances whose clocks are five hours ahead of and behind the database’s', () => {
  let database: TestDatabase;
  let receiver: Receiver;
  let maker: TestInstance;
  let instances: Http[];
  let make: Factory;

  beforeAll(async () => {
    receiver = await Receiver.start();
    database = await createTestDatabase();
    const ports = [await freePort(), await freePort()];
    const env = { ...WEBHOOK_ENV, BASE_URL: `http://127.0.0.1:${ports[0]}` };
    for (const [n, port] of ports.entries()) {
      await new SpawnedService(
        {
          ...env,
          NODE_ENV: 'production',
          PORT: String(port),
          LOG_LEVEL: 'warn',
          DATABASE_URL: database.serviceUrl!,
          ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
          CLOCK_OFFSETS: String(n === 0 ? 5 * 3600 : -5 * 3600),
        },
        { imports: [PRELOADED] },
      ).ready();
    }
    instances = ports.map((port) => new Http(`http://127.0.0.1:${port}`));
    maker = await startInstance(database, env);
    // Only the spawned instances deliver.
    maker.app.get(DeliveryWorker).beforeApplicationShutdown();
    make = new Factory({ ...maker, http: instances[0]!, url: instances[0]!.url });
  });
  afterAll(async () => {
    await SpawnedService.killAll();
    await maker.app.close();
    await receiver.stop();
    await database.drop();
  });

  it('record alternating actions in the order in which they happened', async () => {
    const bearer = await make.adminToken();
    const { id } = await make.user();
    const begun = Date.now();
    const names = Array.from({ length: 6 }, (_, n) => `Name ${n}`);
    for (const [n, name] of names.entries()) {
      const changed = await instances[n % 2]!.send(`/admin/users/${id}`, {
        method: 'PATCH',
        bearer,
        json: { name },
      });
      expect(changed.status).toBe(200);
    }
    const auditLog = await instances[0]!.get(`/admin/audit_events?subject=${id}&action=user.updated`, {
      bearer,
    });
    const events = auditLog.json as unknown as { occurred_at: string; after: { name: string } }[];
    expect(events.map(({ after }) => after.name)).toEqual([...names].reverse());
    for (const { occurred_at } of events)
      expect(Math.abs(new Date(occurred_at).getTime() - begun)).toBeLessThan(HOUR_MS);
  });

  it('sign deliveries with the database’s time, and record that time', async () => {
    const bearer = await make.adminToken();
    const client = await make.client();
    const user = await make.user();
    await make.consent(client, user);
    await instances[0]!.send(`/admin/clients/${client.id}/webhook_endpoints`, {
      bearer,
      json: { url: receiver.url('/hook'), event_types: [TYPE] },
    });
    const event = { type: TYPE, user_id: user.id, timestamp: '2026-01-01T00:00:00Z', data: {} };
    const begun = Date.now();
    for (let n = 0; n < 10; n++)
      expect((await instances[n % 2]!.send('/v2/events', { bearer, json: event })).status).toBe(202);
    await until('all have arrived', () => receiver.requests.length >= 10);
    for (const { headers } of receiver.requests) {
      const timestamp = Number(headers['webhook-timestamp']) * 1000;
      expect(Math.abs(timestamp - begun)).toBeLessThan(HOUR_MS);
    }
    const noted = () => database.query<{ at: Date }>('SELECT attempted_at AS at FROM delivery_attempts');
    await until('all are noted', async () => (await noted()).length === 10);
    for (const { at } of await noted()) expect(Math.abs(at.getTime() - begun)).toBeLessThan(HOUR_MS);
  });
});
