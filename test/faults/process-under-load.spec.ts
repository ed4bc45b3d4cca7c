import { setTimeout as pause } from 'node:timers/promises';
import { Factory } from '../support/factory.js';
import { Http } from '../support/http.js';
import { Load, makeSenders, UNLIMITED, type Senders } from '../support/load.js';
import { SpawnedService } from '../support/spawned-service.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { freePort, startInstance, TEST_ENCRYPTION_KEY } from '../support/test-service.js';

const SERVED_MS = 500;
const STARTED_WITHIN_MS = 20_000;
const ROUNDS = process.env.FAULTS_LONG ? 5 : 1;

jest.setTimeout(180_000);

describe('a process that ends under load, and is started again', () => {
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
    new SpawnedService({
      ...UNLIMITED,
      ...{ NODE_ENV: 'production', PORT: String(port), BASE_URL: http.url, LOG_LEVEL: 'warn' },
      ...{ DATABASE_URL: database.url, ENCRYPTION_KEY: TEST_ENCRYPTION_KEY },
    }).ready();

  it.each<[NodeJS.Signals, number | null]>([
    ['SIGKILL', null],
    ['SIGTERM', 0],
  ])('by %s has kept every promise, and refused nothing but connections', async (signal, code) => {
    let service = await start();
    const load = new Load(http, senders, true);
    for (let round = 0; round < ROUNDS; round++) {
      await load.untilServed(STARTED_WITHIN_MS);
      await pause(SERVED_MS);
      service.signal(signal);
      expect(await service.exit()).toBe(code);
      expect(service.printed).not.toMatch(/"level":"(warn|error|fatal)"/);
      service = await start();
    }
    await load.untilServed(STARTED_WITHIN_MS);
    await load.stop();
    expect(load.seen.filter(({ status }) => status !== 200 && status !== 0)).toEqual([]);
    await load.verify(database);
    expect(await service.stop()).toBe(0);
  });
});
