import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { DeliveriesService } from '#events/webhooks/deliveries/deliveries.service.js';
import { startInstance, type TestInstance, useService } from '../support/test-service.js';
import { refusalOf } from '../support/settings-refusal.js';
import { type TestClient, until, WEBHOOK_ENV, Webhooks } from '../support/spec.js';

describe('an instance with ROLE=api', () => {
  const service = useService({ env: { ...WEBHOOK_ENV, ROLE: 'api' } });
  const webhooks = Webhooks.setUp(service);
  let client: TestClient;
  let user: UserEntity;
  beforeEach(async () => {
    client = await service.make.client();
    user = await webhooks.consentedUser(client);
  });
  afterEach(async () => {
    await service.database.query('UPDATE webhook_endpoints SET deleted_at = now() WHERE deleted_at IS NULL');
    await service.database.query("DELETE FROM deliveries WHERE state = 'pending'");
  });

  let started: TestInstance | undefined;
  afterAll(() => started?.app.close());

  /** The worker of the last tests. Before, nobody delivers. */
  const startWorker = async (): Promise<TestInstance> =>
    (started ??= await startInstance(service.database, {
      ...WEBHOOK_ENV,
      BASE_URL: service.url,
      ROLE: 'worker',
    }));
  const metric = async ({ http }: TestInstance, name: string): Promise<string[]> =>
    (await http.get('/metrics')).text.split('\n').filter((line) => line.startsWith(name));

  describe('the age of the oldest waiting delivery', () => {
    const OLD = 600;
    const oldest = async () => {
      const { oldestSeconds, heldBack } = await service.app.get(DeliveriesService).waiting();
      return [oldestSeconds >= OLD, heldBack];
    };
    const waitingFor = async () => {
      const endpoint = await webhooks.endpoint(client);
      const { id } = await webhooks.publishOne(user.id);
      await service.database.query(
        `UPDATE deliveries SET next_attempt_at = now() - interval '${OLD} seconds' WHERE id = $1`,
        [id],
      );
      return endpoint;
    };

    it('counts what more instances would deliver sooner', async () => {
      await waitingFor();
      expect(await oldest()).toEqual([true, 0]);
    });

    it('does not count an endpoint that is held back because its last attempt failed', async () => {
      const { id } = await waitingFor();
      await service.database.query("UPDATE webhook_endpoints SET recent_results = '...x' WHERE id = $1", [
        id,
      ]);
      expect(await oldest()).toEqual([false, 1]);
      await service.database.query("UPDATE webhook_endpoints SET recent_results = '..x.' WHERE id = $1", [
        id,
      ]);
      expect(await oldest()).toEqual([true, 0]);
    });

    it('does not count an endpoint that is held back because it is slow', async () => {
      const { id } = await waitingFor();
      await service.database.query(
        `INSERT INTO webhook_endpoint_hours (endpoint_id, hour, delivered, failed, duration_ms, slowest_ms)
         VALUES ($1, date_trunc('hour', now()), 10, 0, 90000, 9000)`,
        [id],
      );
      expect(await oldest()).toEqual([false, 1]);
      // Of the same hour, also if another has begun.
      const quick = 'UPDATE webhook_endpoint_hours SET duration_ms = 0 WHERE endpoint_id = $1';
      await service.database.query(quick, [id]);
      expect(await oldest()).toEqual([true, 0]);
    });

    it('does not let one held-back endpoint hide another one that waits', async () => {
      const { id } = await waitingFor();
      await service.database.query("UPDATE webhook_endpoints SET recent_results = 'x' WHERE id = $1", [id]);
      client = await service.make.client();
      user = await webhooks.consentedUser(client);
      await waitingFor();
      expect(await oldest()).toEqual([true, 1]);
    });
  });

  it('answers requests and delivers nothing; one with ROLE=worker delivers at once what it announces', async () => {
    const endpoint = await webhooks.endpoint(client);
    const first = await webhooks.publishOne(user.id);
    // It would have claimed it when it was announced, which was before the answer.
    expect(await webhooks.delivery(first.id)).toMatchObject({
      state: 'pending',
      lease_id: null,
      attempts: 0,
    });
    await startWorker();
    expect((await webhooks.finished(first.id)).state).toBe('delivered');
    expect((await webhooks.finished((await webhooks.publishOne(user.id)).id)).state).toBe('delivered');
    expect(webhooks.received(endpoint)).toHaveLength(2);
  });

  it('has no public route as a worker, but health and metrics, which name its role', async () => {
    const worker = await startWorker();
    const token = await service.make.adminToken();
    const paths = ['/', '/login', '/openapi.json', '/admin/users', '/v2/users', '/o/token', '/no/such/page'];
    const answers = await Promise.all(
      paths.map(async (path) => {
        const answer = await fetch(worker.url + path, { headers: { authorization: `Bearer ${token}` } });
        return { status: answer.status, text: await answer.text() };
      }),
    );
    for (const { status, text } of answers) {
      expect(status).toBe(404);
      expect(text).toContain(
        'This instance serves no requests. It only works on what waits in the database.',
      );
    }
    expect((await worker.http.get('/health/live')).status).toBe(200);
    await until('it is ready', async () => (await worker.http.get('/health/ready')).status === 200);
    expect(await metric(worker, 'instance_role{role="worker"}')).toEqual(['instance_role{role="worker"} 1']);
  });

  it('is refused in the demonstration, which is complete by itself', async () => {
    expect(await refusalOf({ ROLE: 'worker' })).toContain('ROLE must be all in the demonstration');
    expect(await refusalOf({ ROLE: 'web' })).toContain('ROLE must be all, api or worker');
  });
});
