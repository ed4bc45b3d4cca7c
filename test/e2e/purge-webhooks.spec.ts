import { PurgeService } from '../../src/database/purge/purge.service.js';
import type { UserEntity } from '../../src/users/accounts/user.entity.js';
import type { TestClient } from '../support/factory.js';
import { useService } from '../support/test-service.js';
import { WEBHOOK_ENV, Webhooks, type TestEndpoint } from '../support/webhooks.js';
import { leaveOutScheduledPurges } from '../support/scheduled-work.js';

describe('A purge of webhooks', () => {
  const service = useService({
    env: { ...WEBHOOK_ENV, RETENTION_DAYS: '2', WEBHOOK_RETRY_SCHEDULE_SECONDS: '1000' },
  });
  const webhooks = Webhooks.setUp(service);
  let client: TestClient;
  let user: UserEntity;
  let endpoint: TestEndpoint;

  beforeAll(async () => {
    await leaveOutScheduledPurges(service);
    client = await service.make.client();
    user = await webhooks.consentedUser(client);
    endpoint = await webhooks.endpoint(client);
  });

  const query = (sql: string, params: unknown[] = []) => service.database.query(sql, params);
  const purge = () => service.app.get(PurgeService).purge();
  const count = async (what: string, params: unknown[] = []): Promise<number> =>
    (await service.database.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${what}`, params))[0]!.n;

  it('keeps pending deliveries, however old, so that no accepted event is lost', async () => {
    webhooks.answer(endpoint.path, 500);
    const { id, event_id } = await webhooks.publishOne(user.id);
    await webhooks.attempted(id);
    await query("UPDATE events SET created_at = now() - interval '60 days'");
    await purge();
    expect(await webhooks.delivery(id)).toMatchObject({ state: 'pending' });
    webhooks.answer(endpoint.path, 200);
    await webhooks.makeDue(id);
    await webhooks.finished(id);
    await purge();
    expect(await count('events WHERE id = $1', [event_id])).toBe(0);
  });

  it('deletes events with their deliveries and attempts after the configured days', async () => {
    const [kept, gone] = [await webhooks.publishOne(user.id), await webhooks.publishOne(user.id)];
    for (const { id } of [kept, gone]) await webhooks.finished(id);
    await query("UPDATE events SET created_at = now() - interval '47 hours' WHERE id = $1", [kept.event_id]);
    await query("UPDATE events SET created_at = now() - interval '49 hours' WHERE id = $1", [gone.event_id]);
    await purge();
    for (const table of ['events', 'deliveries', 'delivery_attempts']) {
      const column = { events: 'id', deliveries: 'event_id', delivery_attempts: 'delivery_id' }[table]!;
      const keys = table === 'delivery_attempts' ? [kept.id, gone.id] : [kept.event_id, gone.event_id];
      const left = await Promise.all(keys.map((key) => count(`${table} WHERE ${column} = $1`, [key])));
      expect([table, left]).toEqual([table, [1, 0]]);
    }
  });

  it('deletes idempotency keys after 24 hours', async () => {
    for (const key of ['a', 'b']) {
      const answer = await webhooks.publish(user.id, {}, { key });
      expect(answer.status).toBe(202);
      // An attempt that ended later would be counted in the hours of the next test.
      const [delivery] = await webhooks.deliveriesOf(answer.json.id as string);
      await webhooks.finished(delivery!.id);
    }
    expect(await count('event_idempotency_keys')).toBe(2);
    await query(
      `UPDATE event_idempotency_keys SET created_at = now() - interval '24 hours'
        WHERE event_id = (SELECT max(event_id) FROM event_idempotency_keys)`,
    );
    await purge();
    expect(await count('event_idempotency_keys')).toBe(1);
  });

  it('deletes removed endpoints and the hours of the charts after the configured days', async () => {
    const deleted = [await webhooks.endpoint(client), await webhooks.endpoint(client)];
    for (const [n, { id }] of deleted.entries()) {
      await query("UPDATE webhook_endpoints SET deleted_at = now() - make_interval(hours => $2) WHERE id = $1", [id, 47 + 2 * n]); // oxfmt-ignore
    }
    await query("UPDATE webhook_endpoint_hours SET hour = hour - interval '3 days'");
    await purge();
    const left = deleted.map(({ id }) => count('webhook_endpoints WHERE id = $1', [id]));
    expect(await Promise.all(left)).toEqual([1, 0]);
    expect(await count('webhook_endpoint_hours')).toBe(0);
    expect(await count('webhook_endpoints WHERE id = $1', [endpoint.id])).toBe(1);
  });
});
