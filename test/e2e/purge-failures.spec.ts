import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { NestFactory } from '@nestjs/core';
import { runOperatorTool } from '#start/operator-tool.js';
import { PurgeService } from '#platform/database/purge/purge.service.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { madeOnce, TEST_ENCRYPTION_KEY, type TestClient, useService } from '../support/spec.js';
import { leaveOutScheduledPurges } from '../support/scheduled-work.js';
import { WEBHOOK_ENV, Webhooks, type TestEndpoint } from '../support/webhooks.js';

const service = useService({
  env: { ...WEBHOOK_ENV, RETENTION_DAYS: '2', WEBHOOK_RETRY_SCHEDULE_SECONDS: '1000' },
});
beforeAll(() => leaveOutScheduledPurges(service));

const query = (sql: string, params: unknown[] = []) => service.database.query(sql, params);
const purge = () => service.app.get(PurgeService).purge();
const count = async (what: string, params: unknown[] = []): Promise<number> =>
  (await service.database.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${what}`, params))[0]!.n;

describe('A purge deletes exactly the notifications that are due:', () => {
  it.each([
    ['resolved longer ago than the retention time', 'ACTIONABLE', { resolved_at: '49 hours' }, false],
    ['resolved more recently', 'ACTIONABLE', { resolved_at: '47 hours' }, true],
    ['actionable, read but not resolved', 'ACTIONABLE', { read_at: '400 days' }, true],
    ['actionable and unread', 'ACTIONABLE', {}, true],
    ['not actionable, read longer ago than the retention time', 'SERVICE', { read_at: '49 hours' }, false],
    ['not actionable, read more recently', 'SERVICE', { read_at: '47 hours' }, true],
    ['not actionable, unread for more than a year', 'MARKETING', { event_time: '366 days' }, false],
    ['not actionable, unread for less than a year', 'MARKETING', { event_time: '364 days' }, true],
  ])('%s (%s)', async (_what, category, ages: Record<string, string>, isKept) => {
    const { id: userId } = await service.make.user();
    const all = { event_time: category === 'ACTIONABLE' ? '500 days' : '60 days', ...ages };
    const columns = Object.keys(all);
    await service.database.query(
      `INSERT INTO notifications (id, user_id, message_id, category, short_text_title, short_text_body, ${columns.join()})
       VALUES ('notf01HN2NJ9NMRZBXT1H6FT9N7735', $1, 'ERR1', $2, 't', 'b', ${columns.map((_, n) => `now() - $${n + 3}::interval`).join()})`,
      [userId, category, ...Object.values(all)],
    );
    await purge();
    const left = await service.database.query('DELETE FROM notifications WHERE user_id = $1 RETURNING id', [userId]); // oxfmt-ignore
    expect(left.length === 1).toBe(isKept);
  });
});

describe('A purge of webhooks', () => {
  const webhooks = Webhooks.setUp(service);
  let client: TestClient;
  let user: UserEntity;
  let endpoint: TestEndpoint;

  beforeAll(async () => {
    client = await service.make.client();
    user = await webhooks.consentedUser(client);
    endpoint = await webhooks.endpoint(client);
  });

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

describe('A purge', () => {
  const client = madeOnce(() => service.make.client());
  const user = madeOnce(() => service.make.user());
  beforeAll(() => {
    // After each timeout the purge rests for a second; here, it does not.
    const rest = timers.setTimeout;
    jest
      .spyOn(timers, 'setTimeout')
      .mockImplementation((ms, ...more) => rest(ms === 1_000 ? 0 : ms, ...more));
    syncBuiltinESMExports();
  });
  afterAll(() => {
    jest.restoreAllMocks();
    syncBuiltinESMExports();
  });

  /**
   * Makes every statement that deletes more than this many rows of the table fail as if it had timed out. Returns a function that
   * undoes this.
   */
  async function failBeyond(table: string, rows: number): Promise<() => Promise<unknown>> {
    await query(`
      CREATE FUNCTION take_too_long() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          IF (SELECT count(*) FROM going) > ${rows} THEN
            RAISE EXCEPTION 'canceling statement due to statement timeout' USING ERRCODE = 'query_canceled';
          END IF;
          RETURN NULL;
        END
      $$`);
    await query(`CREATE TRIGGER take_too_long AFTER DELETE ON ${table} REFERENCING OLD TABLE AS going
                 FOR EACH STATEMENT EXECUTE FUNCTION take_too_long()`);
    return () => query('DROP FUNCTION take_too_long CASCADE');
  }

  const expiredSessions = (number: number) =>
    query(
      `INSERT INTO sessions (digest, user_id, expires_at)
       SELECT sha256(convert_to('expired ' || n, 'UTF8')), $1, now() - interval '1 second' FROM generate_series(1, $2) n`,
      [user.id, number],
    );

  it('deletes fewer rows at a time after a timeout, down to one, and completes', async () => {
    const mend = await failBeyond('sessions', 2);
    await expiredSessions(30);
    try {
      await purge();
    } finally {
      await mend();
    }
    expect(await count('sessions WHERE expires_at < now()')).toBe(0);
  });

  it('continues with the other tables when one cannot be purged, and then reports that one', async () => {
    const mend = await failBeyond('authorization_codes', 0);
    try {
      await service.make.code(client, user);
      await query("UPDATE authorization_codes SET expires_at = now() - interval '1 second'");
      await expiredSessions(3);
      await expect(purge()).rejects.toThrow(/rows were removed, but .*authorization_codes: canceling/);
      expect(await count('sessions WHERE expires_at < now()')).toBe(0);
      const tool = await operatorPurge();
      expect([tool.code, tool.out]).toEqual([1, '']);
      expect(tool.err).toMatch(
        /rows were removed, but not everything that has expired: authorization_codes: canceling/,
      );
    } finally {
      await mend();
    }
    await purge();
    expect(await count('authorization_codes')).toBe(0);
  });

  it('of many rows by the operator’s tool reports how many rows were deleted', async () => {
    await query(
      `INSERT INTO revoked_access_tokens (id, expires_at)
       SELECT 'token ' || n, now() - interval '1 second' FROM generate_series(1, 2500) n`,
    );
    const { code, out, err } = await operatorPurge();
    expect([code, err]).toEqual([0, '']);
    expect((JSON.parse(out) as { removed: number }).removed).toBeGreaterThanOrEqual(2500);
  });

  /** Does the same as `npm run operator -- purge`, on the running service; operator-tool.spec.ts has it make its own. */
  const operatorPurge = async () => {
    const printed = { stdout: '', stderr: '' };
    const { app } = service;
    const here = { get: app.get.bind(app), close: () => Promise.resolve() };
    const spies = [
      jest.spyOn(NestFactory, 'create').mockResolvedValue(here as never),
      ...(['stdout', 'stderr'] as const).map((name) =>
        jest.spyOn(process[name], 'write').mockImplementation((text, ...more: unknown[]) => {
          printed[name] += String(text);
          (more.at(-1) as (() => void) | undefined)?.();
          return true;
        }),
      ),
    ];
    const env = {
      BASE_URL: service.url,
      DATABASE_URL: service.database.serviceUrl,
      ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
    };
    const code = await runOperatorTool(['purge'], env).finally(() =>
      spies.forEach((spy) => spy.mockRestore()),
    );
    return { code, out: printed.stdout, err: printed.stderr };
  };
});
