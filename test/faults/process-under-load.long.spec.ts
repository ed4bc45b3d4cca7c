import { Factory, freePort, Http, startInstance, TEST_ENCRYPTION_KEY } from '../support/spec.js';
import { GENTLY_MS, Load, makeSenders, UNLIMITED, type Senders } from '../support/load.js';
import { PATIENT_WITH_DATABASE, SpawnedService } from '../support/spawned-service.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

// How often each kind of request is served before the process ends.
const TIMES = 20;
const ROUNDS = process.env.NIGHTLY ? 5 : 1;

describe('a process that ends under load and is started again', () => {
  let database: TestDatabase;
  let senders: Senders;
  let http: Http;
  let port: number;

  beforeAll(async () => {
    database = await createTestDatabase();
    port = await freePort();
    http = new Http(`http://127.0.0.1:${port}`);
    const maker = await startInstance(database, UNLIMITED);
    senders = await makeSenders(new Factory(maker));
    await maker.app.close();
  });
  afterAll(async () => {
    await SpawnedService.killAll();
    await database.drop();
  });

  const start = () =>
    new SpawnedService(
      {
        ...UNLIMITED,
        NODE_ENV: 'production',
        PORT: String(port),
        BASE_URL: http.url,
        LOG_LEVEL: 'warn',
        METRICS_TOKEN: 'only-for-this-test',
        DATABASE_URL: database.url,
        ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
      },
      PATIENT_WITH_DATABASE,
    ).ready();

  it.each<[NodeJS.Signals, number | null]>([
    ['SIGKILL', null],
    ['SIGTERM', 0],
  ])(
    'after %s has kept every promise, and refuses only connections and requests during its start',
    async (signal, code) => {
      let service = await start();
      const load = new Load(http, senders, true, GENTLY_MS);
      // The port is open during the start, and requests are answered with 503.
      const starts: { from: number; to: number }[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        await load.untilEach(200, TIMES);
        service.signal(signal);
        expect(await service.exit()).toBe(code);
        expect(service.printed).not.toMatch(/"level":"(warn|error|fatal)"/);
        const from = load.mark;
        service = await start();
        starts.push({ from, to: load.mark });
      }
      await load.untilEach(200);
      await load.stop();
      const isStarting = (begun: number) => starts.some(({ from, to }) => begun >= from && begun < to);
      const others = load.seen.filter(({ status }) => status !== 200 && status !== 0);
      expect(others.filter(({ status, begun }) => status !== 503 || !isStarting(begun))).toEqual([]);
      await load.verify(database);
      expect(await service.stop()).toBe(0);
    },
  );
});
