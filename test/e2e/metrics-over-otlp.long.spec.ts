import { Factory, startInstance } from '../support/spec.js';
import { OtlpCollector } from '../support/otlp-collector.js';
import { SpawnedService } from '../support/spawned-service.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { startBuilt, tokenOf } from './tracing.js';

describe('With a collector for metrics, a service of its own', () => {
  let collector: OtlpCollector;
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
    collector = await OtlpCollector.start();
  });
  afterAll(async () => {
    await SpawnedService.killAll();
    await collector.stop();
    await database.drop();
  });

  it('uses protobuf by default', async () => {
    const instance = await startInstance(database, {});
    const partner = await new Factory(instance).client();
    await instance.app.close();
    const { service, http } = await startBuilt(database, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    await tokenOf(http, partner);
    expect(await service.stop()).toBe(0);
    const sent = collector.received.find(({ url }) => url === '/v1/metrics')!;
    expect(sent.headers['content-type']).toBe('application/x-protobuf');
    expect(sent.body).toContain('oauth_tokens_issued_total');
  });
});
