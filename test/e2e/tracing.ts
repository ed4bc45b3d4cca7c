import { freePort, Http, TEST_ENCRYPTION_KEY, type TestClient } from '../support/spec.js';
import { SpawnedService } from '../support/spawned-service.js';
import type { TestDatabase } from '../support/test-database.js';
import type { OtlpCollector } from '../support/otlp-collector.js';

export const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
export const TRACE_PARENT = { traceparent: `00-${TRACE_ID}-b7ad6b7169203331-01` };
export const SERVER = 2;

/** Starts the built service on the database with these settings. */
export async function startBuilt(
  database: TestDatabase,
  settings: Record<string, string>,
  heldTimers: number[] = [],
): Promise<{ service: SpawnedService; http: Http }> {
  const port = String(await freePort());
  const environment = {
    NODE_ENV: 'production',
    PORT: port,
    BASE_URL: `http://127.0.0.1:${port}`,
    LOG_LEVEL: 'debug',
    DATABASE_URL: database.url,
    ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
    DATABASE_POOL_SIZE: '5',
    WEBHOOK_ALLOW_PRIVATE_ADDRESSES: 'true',
    ...settings,
  };
  const service = new SpawnedService(environment, { heldTimers });
  return { service: await service.ready(), http: new Http(`http://127.0.0.1:${port}`) };
}

export const tokenOf = async (http: Http, client: TestClient, headers: Record<string, string> = {}) => {
  const form = { grant_type: 'client_credentials' };
  const { json } = await http.send('/o/token', { form, basic: client, headers });
  return json.access_token as string;
};

export const settingsFor = ({ url }: OtlpCollector): Record<string, string> => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: url,
  OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  OTEL_BSP_SCHEDULE_DELAY: '50',
  OTEL_METRICS_EXPORTER: 'none',
});

/** Returns the complete JSON lines of the log. */
export const linesOf = ({ printed }: SpawnedService): Record<string, unknown>[] =>
  printed
    .split('\n')
    .slice(0, -1)
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
