import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Factory } from '../support/factory.js';
import { Haproxy, lackingHaproxy } from '../support/haproxy.js';
import { Http } from '../support/http.js';
import { describeUnless } from '../support/left-out.js';
import { Load, makeSenders, UNLIMITED, type Senders } from '../support/load.js';
import { SpawnedService } from '../support/spawned-service.js';
import { stopwatch } from '../support/stopwatch.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { freePort, startInstance, TEST_ENCRYPTION_KEY } from '../support/test-service.js';
import { until } from '../support/until.js';

const ROUNDS = process.env.FAULTS_LONG ? 5 : 1;
const ASK_EVERY_MS = 250;
const DRAIN_MS = 3_000;
// The shipped balancer asks once a second; an upgrade goes on once it has seen that the last one is ready.
const SEEN_MS = 2_500;

describe('told to stop', () => {
  let database: TestDatabase;
  let senders: Senders;

  beforeAll(async () => {
    database = await createTestDatabase();
    const maker = await startInstance(database, UNLIMITED);
    senders = await makeSenders(new Factory(maker));
    await maker.app.close();
  });
  afterEach(() => SpawnedService.killAll());
  afterAll(() => database.drop());

  const start = (port: number, publicPort: number, heldTimers: number[] = []) =>
    new SpawnedService(
      {
        ...UNLIMITED,
        ...{ NODE_ENV: 'production', PORT: String(port), BASE_URL: `http://127.0.0.1:${publicPort}` },
        ...{ DATABASE_URL: database.url, ENCRYPTION_KEY: TEST_ENCRYPTION_KEY, DATABASE_POOL_SIZE: '6' },
        LOG_LEVEL: 'warn',
      },
      { heldTimers },
    ).ready();
  const isOpen = (port: number) =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true));
      socket.on('error', () => resolve(false));
      socket.on('connect', () => socket.destroy());
    });

  it('a service that nobody watches closes its port at once', async () => {
    const port = await freePort();
    // At once: it does not wait for a time that never ends here.
    const service = await start(port, port, [DRAIN_MS]);
    // As whoever starts it does, who then goes away.
    expect((await new Http(`http://127.0.0.1:${port}`).get('/health/ready')).status).toBe(200);
    service.signal('SIGTERM');
    await until('the port is closed', async () => !(await isOpen(port)));
    expect(await service.exit()).toBe(0);
  });

  it('a service that is watched says at once that it is not ready, and still serves for three seconds', async () => {
    const port = await freePort();
    const service = await start(port, port);
    const http = new Http(`http://127.0.0.1:${port}`);
    const ready = () => http.get('/health/ready', { headers: { connection: 'close' } });
    for (let n = 0; n < 3; n++) {
      expect((await ready()).status).toBe(200);
      await pause(ASK_EVERY_MS);
    }
    const told = stopwatch();
    service.signal('SIGTERM');
    // At once: while the port is open.
    await until('it is not ready', async () => (await ready()).status === 503);
    // Whoever was not told yet is served as ever, and told to come on another connection the next time.
    const basic = { id: senders.client.id, secret: senders.client.secret };
    const late = await http.token({ grant_type: 'client_credentials' }, basic);
    expect([late.status, late.headers.get('connection')]).toEqual([200, 'close']);
    await until('the port is closed', async () => !(await isOpen(port)));
    told.expectAtLeast(DRAIN_MS);
    expect(await service.exit()).toBe(0);
  });

  describeUnless(
    lackingHaproxy,
    'two instances behind the load balancer, one after the other under load',
    () => {
      let balancer: Haproxy | undefined;
      afterEach(() => balancer?.stop());

      it('refuse no request and lose no answer', async () => {
        const [publicPort, ...ports] = [await freePort(), await freePort(), await freePort()];
        const services = await Promise.all(ports.map((port) => start(port, publicPort!)));
        balancer = await Haproxy.start(publicPort!, ports);
        const http = new Http(balancer.url);
        await until('it balances', () =>
          http.get('/health/ready').then(
            ({ status }) => status === 200,
            () => false,
          ),
        );
        const load = new Load(http, senders);
        for (let round = 0; round < ROUNDS; round++) {
          for (const [n, port] of ports.entries()) {
            await pause(SEEN_MS);
            services[n]!.signal('SIGTERM');
            expect(await services[n]!.exit()).toBe(0);
            services[n] = await start(port, publicPort!);
          }
        }
        await load.stop();
        expect(load.seen.filter(({ status }) => status !== 200)).toEqual([]);
        await load.verify(database);
      });
    },
  );
});
