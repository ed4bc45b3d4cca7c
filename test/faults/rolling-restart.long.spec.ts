import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Factory, freePort, Http, startInstance, TEST_ENCRYPTION_KEY, until } from '../support/spec.js';
import { Haproxy, lackingHaproxy, WATCHED_MS } from '../support/haproxy.js';
import { describeUnless } from '../support/left-out.js';
import { GENTLY_MS, Load, makeSenders, UNLIMITED, type Senders } from '../support/load.js';
import { SpawnedService } from '../support/spawned-service.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const ROUNDS = process.env.NIGHTLY ? 5 : 1;
const ASK_EVERY_MS = 300;
/** The three seconds in which a stopping service still serves. */
const DRAIN = '3000:request-hooks';

describe('on a stop,', () => {
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

  const start = (port: number, publicPort: number, heldTimers: string[] = []) =>
    new SpawnedService(
      {
        ...UNLIMITED,
        NODE_ENV: 'production',
        PORT: String(port),
        BASE_URL: `http://127.0.0.1:${publicPort}`,
        DATABASE_URL: database.url,
        ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
        DATABASE_POOL_SIZE: '6',
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

  it('a service without readiness checks closes its port at once', async () => {
    const port = await freePort();
    // At once: the drain timer is held, so waiting for it would never end.
    const service = await start(port, port, [DRAIN]);
    // One readiness check, as by the program that starts the service, and then no more.
    expect((await new Http(`http://127.0.0.1:${port}`).get('/health/ready')).status).toBe(200);
    service.signal('SIGTERM');
    await until('the port is closed', async () => !(await isOpen(port)));
    expect(await service.exit()).toBe(0);
  });

  it('a service with readiness checks reports at once that it is not ready, and still serves requests for three seconds', async () => {
    const port = await freePort();
    const service = await start(port, port, [DRAIN]);
    const http = new Http(`http://127.0.0.1:${port}`);
    const ready = () => http.get('/health/ready', { headers: { connection: 'close' } });
    for (let n = 0; n < 3; n++) {
      if (n > 0) await pause(ASK_EVERY_MS);
      expect((await ready()).status).toBe(200);
    }
    service.signal('SIGTERM');
    // At once: while the port is still open.
    await until('it is not ready', async () => (await ready()).status === 503);
    // Clients that do not know yet are served as usual, and told to open another connection for the next request.
    const basic = { id: senders.client.id, secret: senders.client.secret };
    const late = await http.token({ grant_type: 'client_credentials' }, basic);
    expect([late.status, late.headers.get('connection')]).toEqual([200, 'close']);
    await until('the port is closed', async () => {
      service.letTimersPass();
      return !(await isOpen(port));
    });
    expect(await service.exit()).toBe(0);
  });

  describeUnless(
    lackingHaproxy,
    'two instances behind the load balancer, restarted one after the other under load,',
    () => {
      let balancer: Haproxy | undefined;
      afterEach(() => balancer?.stop());

      it('refuse no request and lose no response', async () => {
        const [publicPort, ...ports] = [await freePort(), await freePort(), await freePort()];
        const services = await Promise.all(ports.map((port) => start(port, publicPort!)));
        balancer = await Haproxy.start(publicPort!, ports, { isPatient: true });
        const http = new Http(balancer.url);
        await balancer.untilUp(ports.length);
        const load = new Load(http, senders, false, GENTLY_MS);
        for (let round = 0; round < ROUNDS; round++) {
          for (const [n, port] of ports.entries()) {
            // An upgrade continues after the balancer has seen that the last instance is ready.
            await pause(WATCHED_MS);
            await balancer.untilUp(ports.length);
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
