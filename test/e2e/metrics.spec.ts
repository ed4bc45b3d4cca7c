import { startService, type TestService } from '../support/test-service.js';

const TOKEN = 'a-token-for-the-metrics';

describe('the metrics', () => {
  let service: TestService;
  beforeAll(async () => (service = await startService({ env: { METRICS_TOKEN: TOKEN } })));
  afterAll(() => service.stop());

  const metrics = async (): Promise<string> => (await service.http.get('/metrics', { bearer: TOKEN })).text;

  it('are for the bearer of the setting’s token alone', async () => {
    for (const bearer of [undefined, 'wrong', `${TOKEN}x`, '']) {
      expect((await service.http.get('/metrics', { bearer })).status).toBe(401);
    }
  });

  it('tell requests by route pattern and status, and nothing of an address or a secret', async () => {
    const token = await service.make.clientToken(await service.make.client());
    await service.http.get('/v2/users/user01HN2NJ9NMRZBXT1H6FT9N7735', { bearer: token });
    await service.http.get('/nowhere/at-all', { bearer: token });
    const text = await metrics();
    expect(text).toMatch(
      /http_request_duration_seconds_count\{method="GET",route="\/v2\/users\/:id",status="404"\} [1-9]/,
    );
    expect(text).toMatch(
      /http_request_duration_seconds_count\{method="POST",route="\/o\/token",status="200"\} [1-9]/,
    );
    expect(text).not.toMatch(/user01HN2NJ9|nowhere/);
    expect(text).not.toContain(token);
  });

  it('tell of the process, the pool, the rate limits, the purge and the deliveries', async () => {
    const text = await metrics();
    for (const name of [
      'nodejs_eventloop_lag_seconds',
      'process_resident_memory_bytes',
      'database_connections{state="idle"}',
      'rate_limit_decisions_total',
      'purged_rows_total',
      'webhook_attempts_total',
      'webhook_deliveries_pending',
      'webhook_oldest_due_delivery_seconds',
    ]) {
      expect(text).toContain(name);
    }
  });
});
