import { Factory, Http, startInstance, type TestClient, until } from '../support/spec.js';
import { SpawnedService } from '../support/spawned-service.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { OtlpCollector } from '../support/otlp-collector.js';
import { SERVER, settingsFor, startBuilt, tokenOf, TRACE_PARENT } from './tracing.js';

let database: TestDatabase;
let partner: TestClient;

beforeAll(async () => {
  database = await createTestDatabase();
  const instance = await startInstance(database, {});
  partner = await new Factory(instance).client();
  // From here on, the tests run the built service in a process of its own.
  await instance.app.close();
});
afterAll(() => database.drop());

describe('With a collector, a service of its own', () => {
  let collector: OtlpCollector;
  let service: SpawnedService;
  let http: Http;

  beforeEach(async () => (collector = await OtlpCollector.start()));
  afterEach(async () => {
    await SpawnedService.killAll();
    await collector.stop();
  });

  it('keeps shared work out of the trace of the request that started it, and needs only an endpoint for traces', async () => {
    const { OTEL_EXPORTER_OTLP_ENDPOINT: url, ...settings } = settingsFor(collector);
    ({ service, http } = await startBuilt(database, {
      ...settings,
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${url}/v1/traces`,
    }));
    const bearer = await tokenOf(http, partner);
    // The first request that needs to know whether the cache is valid starts the regular reading of changes.
    await http.get('/v2/users', { bearer, headers: TRACE_PARENT });
    const readings = new Set<number>();
    await until('the changes were read again and again', async () => {
      await http.get('/v2/users', { bearer });
      const rows = await database.query<{ at: number }>(
        // PostgreSQL shows the beginning of a statement.
        `SELECT extract(epoch FROM query_start)::float8 AS at FROM pg_stat_activity
          WHERE application_name = 'charging-data-service listener' AND datname = current_database()
            AND query LIKE '%SELECT pg_current_snapshot()%'`,
      );
      for (const { at } of rows) readings.add(at);
      return readings.size > 10;
    });
    expect(await service.stop()).toBe(0);
    expect(collector.spans.length).toBeGreaterThan(10);
    const heartbeats = collector.spans.filter((span) =>
      JSON.stringify(span).includes('pg_visible_in_snapshot'),
    );
    expect(heartbeats).toEqual([]);
  });

  it('sends no spans of machine requests, nor those that the sampler drops', async () => {
    ({ service, http } = await startBuilt(database, {
      ...settingsFor(collector),
      OTEL_TRACES_SAMPLER: 'always_off',
    }));
    await tokenOf(http, partner, TRACE_PARENT);
    expect(await service.stop()).toBe(0);
    expect(collector.received).toEqual([]);
    ({ service, http } = await startBuilt(database, {
      ...settingsFor(collector),
      OTEL_TRACES_SAMPLER: 'always_on',
    }));
    for (const each of ['/health/live', '/health/ready', '/metrics']) await http.get(each);
    await tokenOf(http, partner);
    expect(await service.stop()).toBe(0);
    const names = collector.spans.filter(({ kind }) => kind === SERVER).map(({ name }) => name);
    expect(names).toEqual(['POST /o/token']);
  });

  it('uses protobuf by default', async () => {
    ({ service, http } = await startBuilt(database, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }));
    await tokenOf(http, partner, TRACE_PARENT);
    expect(await service.stop()).toBe(0);
    const sent = collector.received.find(({ url }) => url === '/v1/traces')!;
    expect(sent.headers['content-type']).toBe('application/x-protobuf');
    expect(sent.body).toContain('POST /o/token');
  });
});
