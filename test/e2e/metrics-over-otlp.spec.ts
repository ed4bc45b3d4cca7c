import { Factory, freePort, startInstance, type TestClient, until } from '../support/spec.js';
import { OtlpCollector, type ReceivedMetric } from '../support/otlp-collector.js';
import { SHUTDOWN_LIMITS, SpawnedService } from '../support/spawned-service.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { linesOf, startBuilt, tokenOf } from './tracing.js';

let database: TestDatabase;
let partner: TestClient;

beforeAll(async () => {
  database = await createTestDatabase();
  const instance = await startInstance(database, {});
  partner = await new Factory(instance).client();
  // From here on, the test runs the built service in a process of its own.
  await instance.app.close();
});
afterAll(() => database.drop());

describe('With a collector for metrics only, the service', () => {
  it('sends what Prometheus would get, again and again and once more at its end, and no traces', async () => {
    const collector = await OtlpCollector.start();
    const { service, http } = await startBuilt(database, {
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${collector.url}/v1/metrics`,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_METRIC_EXPORT_INTERVAL: '100',
      OTEL_RESOURCE_ATTRIBUTES: 'service.instance.id=authority-a',
    });
    const issued = (sent: Record<string, ReceivedMetric> | undefined) =>
      sent?.oauth_tokens_issued_total?.series.find(({ labels }) => labels.grant_type === 'client_credentials')
        ?.value;
    try {
      await tokenOf(http, partner);
      await until('the token is counted', () => issued(collector.exports.at(-1)) === 1);
      const { text } = await http.get('/metrics');
      await tokenOf(http, partner);
      expect(await service.stop()).toBe(0);
      const last = collector.exports.at(-1)!;
      expect(issued(last)).toBe(2);
      const kindOf = { counter: 'sum', gauge: 'gauge', histogram: 'histogram' };
      const shown = [...text.matchAll(/^# TYPE (\S+) (counter|gauge|histogram)\n(?=\w)/gm)];
      expect(shown.length).toBeGreaterThan(40);
      // What Node.js is busy with at a moment has a series for each kind that there is, so at times none.
      const momentary = (name: string) => name.startsWith('nodejs_active_') && !(name in last);
      for (const [, name, type] of shown.filter((each) => !momentary(each[1]!)))
        expect([name, last[name!]?.kind]).toEqual([name, kindOf[type as keyof typeof kindOf]]);
      const durations = last.http_request_duration_seconds!;
      expect([durations.isCumulative, durations.resource]).toEqual([
        true,
        expect.objectContaining({
          'service.name': 'charging-data-service',
          'service.instance.id': 'authority-a',
        }),
      ]);
      const ofTokens = durations.series.find(({ labels }) => labels.route === '/o/token')!;
      const labels = { method: 'POST', route: '/o/token', status: 200 };
      expect(ofTokens).toMatchObject({ count: 2, labels, sum: expect.any(Number) as number });
      expect(ofTokens.counts).toHaveLength(ofTokens.bounds!.length + 1);
      expect(ofTokens.counts!.reduce((sum, n) => sum + n)).toBe(2);
      expect(new Set(collector.received.map(({ url }) => url))).toEqual(new Set(['/v1/metrics']));
    } finally {
      await SpawnedService.killAll();
      await collector.stop();
    }
  });
});

describe('While the collector of metrics is unavailable,', () => {
  it('requests are served, the log says it once, and the shutdown is in time', async () => {
    const settings = {
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `http://127.0.0.1:${await freePort()}/v1/metrics`,
      OTEL_EXPORTER_OTLP_TIMEOUT: '100',
      OTEL_METRIC_EXPORT_INTERVAL: '200',
    };
    // "In time" means that no limit of the shutdown applies, because here they never run out.
    const { service, http } = await startBuilt(database, settings, Object.values(SHUTDOWN_LIMITS));
    const complaints = () => linesOf(service).filter(({ context }) => context === 'Metrics');
    await until('the log says so', async () => {
      await tokenOf(http, partner);
      return complaints().length > 0;
    });
    expect(await service.stop()).toBe(0);
    expect(complaints().map(({ level }) => level)).toEqual(['warn']);
  });
});
