import { setTimeout as pause } from 'node:timers/promises';
import { Factory } from '../support/factory.js';
import { Http } from '../support/http.js';
import { KINDS, Load, makeSenders, UNLIMITED, whatIsWrongWith503, type Senders } from '../support/load.js';
import { OwnPostgres, type StopSignal } from '../support/own-postgres.js';
import { SpawnedService } from '../support/spawned-service.js';
import { freePort, startInstance, TEST_ENCRYPTION_KEY } from '../support/test-service.js';

// Issue: served again within 5 s of its return, by itself.
const BACK_WITHIN_MS = 5_000;
const REFUSED_WITHIN_MS = 4_000;
const AWAY_MS = 1_000;
// Under load before it goes and after it is back.
const SERVED_MS = 500;

jest.setTimeout(90_000);

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
      ...{ NODE_ENV: 'production', PORT: String(port), BASE_URL: http.url, LOG_LEVEL: 'warn' },
      ...{ DATABASE_URL: postgres.url, ENCRYPTION_KEY: TEST_ENCRYPTION_KEY },
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
  ])('(%s) says 503, is back by itself, and has lost and falsified nothing', async (_, signal) => {
    const load = new Load(http, senders);
    await load.untilServed(BACK_WITHIN_MS);
    await pause(SERVED_MS);
    await postgres.end(signal);
    const away = performance.now();
    await pause(AWAY_MS);
    const ready = await http.get('/health/ready');
    expect([ready.status, whatIsWrongWith503(ready)]).toEqual([503, undefined]);
    expect((await http.get('/health/live')).status).toBe(200);
    const until = performance.now();
    await postgres.start();
    await load.untilServed(BACK_WITHIN_MS);
    expect((await http.get('/health/ready')).status).toBe(200);
    await pause(SERVED_MS);
    await load.stop();
    const refused = load.between(away, until);
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]));
    expect(new Set(refused.map(({ kind }) => kind))).toEqual(new Set(KINDS));
    expect(Math.max(...load.seen.map(({ took }) => took))).toBeLessThan(REFUSED_WITHIN_MS);
    await load.verify(postgres);
    expect(service.printed).not.toMatch(/"level":"(error|fatal)"/);
  });
});
