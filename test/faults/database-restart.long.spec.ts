import { Factory, freePort, Http, startInstance, TEST_ENCRYPTION_KEY } from '../support/spec.js';
import { Load, makeSenders, UNLIMITED, whatIsWrongWith503, type Senders } from '../support/load.js';
import { OwnPostgres, type StopSignal } from '../support/own-postgres.js';
import { SpawnedService } from '../support/spawned-service.js';

// How often each kind of request must succeed before PostgreSQL stops and after it is back, and be refused in the meantime.
const TIMES = 20;

describe('while PostgreSQL is away', () => {
  let postgres: OwnPostgres;
  let service: SpawnedService;
  let http: Http;
  let senders: Senders;

  beforeAll(async () => {
    postgres = await OwnPostgres.start();
    const port = await freePort();
    http = new Http(`http://127.0.0.1:${port}`);
    const instance = await startInstance(postgres, UNLIMITED);
    senders = await makeSenders(new Factory(instance));
    await instance.app.close();
    service = await new SpawnedService({
      ...UNLIMITED,
      NODE_ENV: 'production',
      PORT: String(port),
      BASE_URL: http.url,
      LOG_LEVEL: 'warn',
      DATABASE_URL: postgres.url,
      ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
    }).ready();
  });
  afterAll(async () => {
    await SpawnedService.killAll();
    await postgres.drop();
  });

  it.each<[string, StopSignal]>([
    ['stopped', 'SIGINT'],
    ['stopped at once', 'SIGQUIT'],
    ['killed', 'SIGKILL'],
  ])(
    '(%s) the service answers 503, recovers on its own, and has lost and corrupted nothing',
    async (_, signal) => {
      const load = new Load(http, senders);
      await load.untilEach(200, TIMES);
      await postgres.end(signal);
      // An instance relies on what it has read for as long as it has not noticed.
      await load.untilEach(503);
      const away = load.mark;
      // No request waits for PostgreSQL's return: both interrupted and new requests are answered while it is away.
      await load.untilEnded();
      await load.untilEach(503, TIMES);
      const ready = await http.get('/health/ready');
      expect([ready.status, whatIsWrongWith503(ready)]).toEqual([503, undefined]);
      expect((await http.get('/health/live')).status).toBe(200);
      const until = load.mark;
      await load.untilEnded();
      expect(new Set(load.between(away, until).map(({ status }) => status))).toEqual(new Set([503]));
      await postgres.start();
      // Every request from now on reaches it: there is no delay to wait for.
      const back = load.mark;
      await load.untilEach(200, TIMES);
      expect((await http.get('/health/ready')).status).toBe(200);
      await load.stop();
      expect(load.between(back).filter(({ status }) => status !== 200)).toEqual([]);
      await load.verify(postgres);
      expect(service.printed).not.toMatch(/"level":"(error|fatal)"/);
    },
  );
});
