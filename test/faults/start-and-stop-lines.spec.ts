import { PATIENT_WITH_DATABASE, SpawnedService } from '../support/spawned-service.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { freePort } from '../support/free-port.js';
import { TEST_ENCRYPTION_KEY } from '../support/test-encryption-key.js';

/**
 * A module by which its process gets SIGTERM as soon as that has a handler, before anything else: a signal from elsewhere may come when the
 * program has loaded.
 */
const STOPS_AT_ONCE = `data:text/javascript,${encodeURIComponent(
  "process.on('newListener', (name) => name === 'SIGTERM' && process.nextTick(() => process.emit(name, name)))",
)}`;

describe('the log of a production start and stop', () => {
  let database: TestDatabase;
  beforeAll(async () => (database = await createTestDatabase()));
  afterEach(() => SpawnedService.killAll());
  afterAll(() => database.drop());

  const linesOfStartAndStop = async () => {
    const port = String(await freePort());
    const service = await new SpawnedService(
      {
        NODE_ENV: 'production',
        PORT: port,
        BASE_URL: `http://127.0.0.1:${port}`,
        DATABASE_URL: database.url,
        ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
      },
      PATIENT_WITH_DATABASE,
    ).ready();
    expect(await service.stop()).toBe(0);
    return service.printed
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { level: string; msg: string });
  };

  // test/faults/start-failures.spec.ts has a start that warns of nothing, because the metrics need a token.
  it('warns if anybody may read the metrics, and says when the service stops', async () => {
    const lines = await linesOfStartAndStop();
    const warnings = lines.filter(({ level }) => level === 'warn').map(({ msg }) => msg);
    expect(warnings).toEqual([expect.stringMatching(/^METRICS_TOKEN is not set/)]);
    expect(lines.some(({ msg }) => msg.startsWith('SMTP_URL and MAIL_FROM are not set'))).toBe(true);
    expect(lines.slice(-2).map(({ msg }) => msg)).toEqual([
      expect.stringMatching(/^Stopping \(SIGTERM\)/),
      'Stopped',
    ]);
  });

  it('says nothing of a stop while the program is still loading, and exits with 0', async () => {
    const service = new SpawnedService(
      { DATABASE_URL: database.url, ENCRYPTION_KEY: TEST_ENCRYPTION_KEY },
      { imports: [STOPS_AT_ONCE] },
    );
    expect([await service.ended, service.printed]).toEqual([0, '']);
  });
});
