import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { dataSourceOptions } from '../../src/database/connections/data-source.js';
import { newId } from '../../src/secrets/ids.js';
import { DeliveryEntity } from '../../src/webhooks/deliveries/delivery.entity.js';
import { DeliveryQueueRepository } from '../../src/webhooks/deliveries/delivery-queue.repository.js';
import type { ClaimedDelivery, FinishedClaim } from '../../src/webhooks/deliveries/claimed-delivery.js';
import { EndpointEntity } from '../../src/webhooks/endpoints/endpoint.entity.js';
import { EventEntity } from '../../src/webhooks/events/event.entity.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const MANY = 10_000;
const ATTEMPT = { attemptedAt: new Date(), durationMs: 12, signature: 'v1,x' };

interface Row {
  id: string;
  state: string;
  attempts: number;
  retries: number;
  lease_id: string | null;
  wait: number | null;
}

describe('the queue of deliveries', () => {
  let database: TestDatabase;
  let sources: DataSource[];
  let queue: DeliveryQueueRepository;
  let other: DeliveryQueueRepository;

  beforeAll(async () => {
    database = await createTestDatabase();
    const entities = [DeliveryEntity, EndpointEntity, EventEntity];
    sources = await Promise.all(
      [1, 2].map(() => new DataSource({ ...dataSourceOptions(database.url, 8), entities }).initialize()),
    );
    [queue, other] = sources.map(
      (source) => new DeliveryQueueRepository(source.getRepository(DeliveryEntity)),
    ) as [DeliveryQueueRepository, DeliveryQueueRepository];
  });
  afterEach(() => query('TRUNCATE users CASCADE'));
  afterAll(async () => {
    await Promise.all(sources.map((source) => source.destroy()));
    await database.drop();
  });

  const query = <T = Record<string, unknown>>(sql: string, params: unknown[] = []) =>
    database.query<T>(sql, params);

  /** A client of a new owner, who has consented to it. */
  async function makeClient(): Promise<{ clientId: string; userId: string }> {
    const [clientId, userId] = [newId('clnt'), newId('user')];
    await query(
      "INSERT INTO users (id, email, email_key, name, kind, role) VALUES ($1, $1 || '@x.example', $1, 'User', 'individual', 'user')",
      [userId],
    );
    await query(
      `INSERT INTO clients (id, name, type, grant_types, scopes, redirect_uris, owner_id)
       VALUES ($1, 'Client', 'confidential', '{client_credentials}', '{vehicle:read}', '{}', $2)`,
      [clientId, userId],
    );
    await query("INSERT INTO consents (client_id, user_id, scopes) VALUES ($1, $2, '{vehicle:read}')", [
      clientId,
      userId,
    ]);
    return { clientId, userId };
  }

  /** An endpoint with so many deliveries, due since `due` ago and each a little later than the one before. */
  async function makeEndpoint(deliveries: number, due = '1 hour'): Promise<string> {
    const { clientId, userId } = await makeClient();
    const [id, eventId] = [newId('endp'), newId('evnt')];
    await query(
      "INSERT INTO webhook_endpoints (id, client_id, url, event_types, sealed_secret) VALUES ($1, $2, 'https://x.example/', '{vehicle.updated}', 'x')",
      [id, clientId],
    );
    await query(
      "INSERT INTO events (id, type, user_id, payload, deliveries) VALUES ($1, 'vehicle.updated', $2, '{}', 1)",
      [eventId, userId],
    );
    await query(
      `INSERT INTO deliveries (id, event_id, event_type, endpoint_id, client_id, next_attempt_at)
       SELECT new_delivery_id(), $1, 'vehicle.updated', $2, $3, now() - $4::interval + n * interval '1 ms' FROM generate_series(1, $5) n`,
      [eventId, id, clientId, due, deliveries],
    );
    return id;
  }

  const claim = (limit = MANY, perEndpoint = MANY, room = new Map<string, number>(), by = queue) =>
    by.claim(randomUUID(), limit, perEndpoint, room);
  const countByEndpoint = (claims: ClaimedDelivery[]) => {
    const counts: Record<string, number> = {};
    for (const { endpointId } of claims) counts[endpointId] = (counts[endpointId] ?? 0) + 1;
    return counts;
  };
  const rows = () =>
    query<Row>(
      `SELECT id, state, attempts, retries, lease_id, extract(epoch FROM next_attempt_at - now())::float8 AS wait
         FROM deliveries ORDER BY next_attempt_at, id`,
    );
  const endLeases = () => query('UPDATE deliveries SET next_attempt_at = now() WHERE lease_id IS NOT NULL');
  const finished = ({ id, leaseId }: ClaimedDelivery, rest: Partial<FinishedClaim> = {}): FinishedClaim => ({
    id,
    leaseId,
    state: 'delivered',
    attempt: { ...ATTEMPT, status: 200 },
    ...rest,
  });

  it('gives nothing that is not due, finished, or in another’s hand', async () => {
    expect(await claim()).toEqual([]);
    await makeEndpoint(3, '-1 minute');
    expect(await claim()).toEqual([]);
    await makeEndpoint(1);
    const [taken] = await claim();
    expect(await claim(MANY, MANY, new Map(), other)).toEqual([]);
    await queue.finish([finished(taken!)]);
    await endLeases();
    expect(await claim()).toEqual([]);
  });

  it('gives each delivery to one of any number of claimers', async () => {
    await Promise.all(Array.from({ length: 10 }, () => makeEndpoint(100)));
    const claims = await Promise.all(
      Array.from({ length: 12 }, (_, n) => claim(150, MANY, new Map(), n % 2 ? queue : other)),
    );
    const more: ClaimedDelivery[] = [];
    for (let next = await claim(150); next.length > 0; next = await claim(150)) more.push(...next);
    const ids = [...claims.flat(), ...more].map(({ id }) => id);
    expect([ids.length, new Set(ids).size]).toEqual([1000, 1000]);
  });

  it('gives under a lease of 30 s, which another takes up when it is over', async () => {
    await makeEndpoint(1);
    const [first] = await claim();
    const [held] = await rows();
    expect(held).toMatchObject({ state: 'pending', lease_id: first!.leaseId, attempts: 0 });
    expect(held!.wait).toBeGreaterThan(25);
    expect(held!.wait).toBeLessThanOrEqual(30);
    await endLeases();
    const [second] = await claim(1, 1, new Map(), other);
    expect(second).toMatchObject({ id: first!.id });
    expect(second!.leaseId).not.toBe(first!.leaseId);
  });

  it('lets a late holder change nothing, neither delivery nor attempts nor endpoint', async () => {
    const endpointId = await makeEndpoint(1);
    const [late] = await claim();
    await endLeases();
    const [holder] = await claim(1, 1, new Map(), other);
    const everything = async () => [
      await query('SELECT * FROM deliveries'),
      await query('SELECT * FROM delivery_attempts'),
      await query('SELECT * FROM webhook_endpoint_hours'),
      await query('SELECT * FROM webhook_endpoints'),
    ];
    const before = await everything();
    for (const state of ['delivered', 'failed'] as const) await queue.finish([finished(late!, { state })]);
    await queue.finish([finished(late!, { state: 'pending', waitSeconds: 5 })]);
    await queue.finish([
      finished(late!, { state: 'cancelled', cancelReason: 'client_disabled', attempt: undefined }),
    ]);
    expect(await everything()).toEqual(before);
    await other.finish([
      finished(holder!, { state: 'pending', waitSeconds: 60, attempt: { ...ATTEMPT, status: 500 } }),
    ]);
    await queue.finish([finished(late!)]);
    expect(await rows()).toMatchObject([{ state: 'pending', attempts: 1, retries: 1, lease_id: null }]);
    expect(await query('SELECT endpoint_id, delivered, failed FROM webhook_endpoint_hours')).toEqual([
      { endpoint_id: endpointId, delivered: 0, failed: 1 },
    ]);
  });

  it('gives no more of one endpoint than may be, or than there is room for, the oldest first', async () => {
    const [a, b, c] = [await makeEndpoint(50), await makeEndpoint(50), await makeEndpoint(50)];
    const oldest = await query<{ id: string }>(
      'SELECT id FROM deliveries WHERE endpoint_id = $1 ORDER BY next_attempt_at LIMIT 5',
      [b],
    );
    const claims = await claim(MANY, 20, new Map([[b, 5], [c, 0]])); // prettier-ignore
    expect(countByEndpoint(claims)).toEqual({ [a]: 20, [b]: 5 });
    const ofB = claims.filter(({ endpointId }) => endpointId === b).map(({ id }) => id);
    expect(ofB.sort()).toEqual(oldest.map(({ id }) => id).sort());
  });

  it('lets endpoints take turns: one of a thousand due holds up none of one', async () => {
    const large = await makeEndpoint(1000, '2 days');
    const small = await Promise.all(Array.from({ length: 5 }, () => makeEndpoint(1, '1 second')));
    const counts = countByEndpoint(await claim(10));
    expect(counts).toEqual({ [large]: 5, ...Object.fromEntries(small.map((id) => [id, 1])) });
    const [second, third] = [await makeEndpoint(1000, '1 minute'), await makeEndpoint(1000, '10 days')];
    expect(countByEndpoint(await claim(30))).toEqual({ [large]: 10, [second]: 10, [third]: 10 });
  });

  it('takes results of all kinds at once, for several endpoints', async () => {
    const [a, b] = [await makeEndpoint(4), await makeEndpoint(2)];
    const claims = await claim();
    const of = (endpoint: string) => claims.filter(({ endpointId }) => endpointId === endpoint);
    const [a1, a2, a3, a4] = of(a);
    const [b1, b2] = of(b);
    const { disable: failing } = await queue.finish([
      finished(a1!),
      finished(a2!, {
        state: 'pending',
        waitSeconds: 100,
        attempt: { ...ATTEMPT, status: 500, responseStart: 'no' },
      }),
      finished(a3!, { state: 'cancelled', cancelReason: 'consent_withdrawn', attempt: undefined }),
      finished(a4!, { state: 'pending', waitSeconds: 0, attempt: undefined }),
      finished(b1!, { state: 'failed', attempt: { ...ATTEMPT, failure: 'dns', detail: 'Nowhere.' } }),
      finished(b2!, { state: 'failed', attempt: { ...ATTEMPT, status: 404, durationMs: 99 } }),
      { ...finished(a1!), leaseId: 'another' },
    ]);
    expect(failing).toEqual([]);
    const byId = new Map((await rows()).map((row) => [row.id, row]));
    expect(byId.get(a1!.id)).toMatchObject({ state: 'delivered', attempts: 1, retries: 0, wait: null });
    expect(byId.get(a2!.id)).toMatchObject({ state: 'pending', attempts: 1, retries: 1, lease_id: null });
    expect(byId.get(a2!.id)!.wait).toBeCloseTo(100, -1);
    expect(byId.get(a3!.id)).toMatchObject({ state: 'cancelled', attempts: 0, wait: null });
    // Given back without an attempt that counts: due at once.
    expect(byId.get(a4!.id)).toMatchObject({ state: 'pending', attempts: 0, retries: 0, lease_id: null });
    expect(byId.get(a4!.id)!.wait).toBeLessThanOrEqual(0);
    expect(byId.get(b1!.id)).toMatchObject({ state: 'failed', attempts: 1 });
    const hours = await query(
      'SELECT endpoint_id AS id, delivered, failed, slowest_ms FROM webhook_endpoint_hours ORDER BY endpoint_id',
    );
    expect(hours).toEqual(
      [
        { id: a, delivered: 1, failed: 1, slowest_ms: 12 },
        { id: b, delivered: 0, failed: 2, slowest_ms: 99 },
      ].sort((x, y) => (x.id < y.id ? -1 : 1)),
    );
    const endpoints = await query<{ id: string; failing: boolean }>(
      'SELECT id, failing_since IS NOT NULL AS failing FROM webhook_endpoints WHERE last_attempt_at IS NOT NULL',
    );
    expect(Object.fromEntries(endpoints.map(({ id, failing }) => [id, failing]))).toEqual({
      [a]: false,
      [b]: true,
    });
    expect(
      await query('SELECT failure, detail, status FROM delivery_attempts WHERE delivery_id = $1', [b1!.id]),
    ).toEqual([{ failure: 'dns', detail: 'Nowhere.', status: null }]);
  });

  it('takes results of many at once from two instances, without a loss', async () => {
    await Promise.all(Array.from({ length: 5 }, () => makeEndpoint(200)));
    const claims = await claim();
    const halves = [claims.filter((_, n) => n % 2), claims.filter((_, n) => !(n % 2)).reverse()];
    await Promise.all(halves.map((half, n) => [queue, other][n]!.finish(half.map((each) => finished(each)))));
    expect(await query("SELECT count(*)::int AS n FROM deliveries WHERE state = 'delivered'")).toEqual([
      { n: 1000 },
    ]);
    expect(await query('SELECT delivered FROM webhook_endpoint_hours')).toEqual(
      Array(5).fill({ delivered: 200 }),
    );
  });

  it('names an enabled endpoint that has failed for five days, and no other', async () => {
    const [old, young, disabled] = [await makeEndpoint(1), await makeEndpoint(1), await makeEndpoint(1)];
    await query("UPDATE webhook_endpoints SET failing_since = now() - interval '5 days'");
    await query("UPDATE webhook_endpoints SET failing_since = now() - interval '119 hours' WHERE id = $1", [
      young,
    ]);
    await query('UPDATE webhook_endpoints SET enabled = false, disabled_at = now() WHERE id = $1', [
      disabled,
    ]);
    const claims = await claim();
    expect(claims.map(({ endpointId, cancelReason }) => [endpointId, cancelReason]).sort()).toEqual(
      [
        [old, null],
        [young, null],
        [disabled, 'endpoint_disabled'],
      ].sort(),
    );
    const failed = claims.map((each) =>
      finished(each, { state: 'failed', attempt: { ...ATTEMPT, status: 500 } }),
    );
    expect((await queue.finish(failed)).disable).toEqual([old]);
  });

  describe('of a throttled endpoint', () => {
    const throttle = async (id: string, limit: number | null): Promise<void> => {
      await query('UPDATE webhook_endpoints SET max_per_minute = $2 WHERE id = $1', [id, limit]);
      await query('INSERT INTO webhook_throttles (endpoint_id) VALUES ($1) ON CONFLICT DO NOTHING', [id]);
    };
    /** As if so many seconds had passed. */
    const age = (seconds: number) =>
      query(
        `UPDATE webhook_throttles SET blocked_until = blocked_until - make_interval(secs => $1),
                start_seconds = ARRAY(SELECT s - make_interval(secs => $1) FROM unnest(start_seconds) s)`,
        [seconds],
      );
    const dueOf = async (id: string) =>
      (
        await query<{ id: string }>(
          'SELECT id FROM deliveries WHERE endpoint_id = $1 AND lease_id IS NULL ORDER BY next_attempt_at',
          [id],
        )
      ).map((row) => row.id);

    it('gives as many in a minute as may start, the oldest first, and the next after it', async () => {
      const id = await makeEndpoint(9);
      await throttle(id, 4);
      const order = await dueOf(id);
      const first = await claim(3);
      expect(first.map((each) => each.id).sort()).toEqual(order.slice(0, 3).sort());
      expect((await claim()).map((each) => each.id)).toEqual([order[3]]);
      expect(await claim(MANY, MANY, new Map(), other)).toEqual([]);
      expect(await dueOf(id)).toEqual(order.slice(4));
      await age(30);
      expect(await claim()).toEqual([]);
      await age(32);
      expect((await claim()).map((each) => each.id).sort()).toEqual(order.slice(4, 8).sort());
      expect(await claim()).toEqual([]);
    });

    it('gives no more to any number of claimers at once', async () => {
      const ids = await Promise.all([makeEndpoint(200), makeEndpoint(200), makeEndpoint(200)]);
      for (const [n, id] of ids.entries()) await throttle(id, [7, 50, null][n]!);
      const claimed: ClaimedDelivery[] = [];
      for (let round = 0; round < 5; round++) {
        const claims = await Promise.all(
          Array.from({ length: 12 }, (_, n) => claim(40, 5, new Map(), n % 2 ? queue : other)),
        );
        claimed.push(...claims.flat());
      }
      const rest = [await claim(MANY), await claim(MANY)];
      const counts = countByEndpoint([...claimed, ...rest.flat()]);
      expect(counts).toEqual({ [ids[0]]: 7, [ids[1]]: 50, [ids[2]]: 200 });
    });

    it('holds up no other, and reads none of its backlog until an attempt may start', async () => {
      const [slow, free] = [await makeEndpoint(500, '2 days'), await makeEndpoint(3)];
      await throttle(slow, 1);
      expect(countByEndpoint(await claim(10))).toEqual({ [slow]: 1, [free]: 3 });
      // Locked, its rows could be neither claimed nor passed over before they were read.
      const [{ blocked }] = (await query<{ blocked: boolean }>(
        'SELECT blocked_until > now() AS blocked FROM webhook_throttles WHERE endpoint_id = $1',
        [slow],
      )) as [{ blocked: boolean }];
      expect(blocked).toBe(true);
      await makeEndpoint(2);
      expect(await claim(10)).toHaveLength(2);
    });

    it('gives what another is counting for to nobody else meanwhile', async () => {
      const [id, free] = [await makeEndpoint(3), await makeEndpoint(1)];
      await throttle(id, 2);
      await sources[1]!.transaction(async (manager) => {
        await manager.query('SELECT 1 FROM webhook_throttles WHERE endpoint_id = $1 FOR UPDATE', [id]);
        expect(countByEndpoint(await claim())).toEqual({ [free]: 1 });
      });
      expect(countByEndpoint(await claim())).toEqual({ [id]: 2 });
    });

    it('counts attempts only: what is cancelled uses nothing up, and a disabled endpoint has no limit', async () => {
      const [id, disabled] = [await makeEndpoint(6), await makeEndpoint(6)];
      for (const each of [id, disabled]) await throttle(each, 2);
      await query('UPDATE webhook_endpoints SET enabled = false, disabled_at = now() WHERE id = $1', [
        disabled,
      ]);
      await query(
        'UPDATE deliveries SET erased = true WHERE id IN (SELECT id FROM deliveries WHERE endpoint_id = $1 ORDER BY next_attempt_at LIMIT 3)',
        [id],
      );
      const claims = [await claim(), await claim(), await claim(), await claim()].flat();
      expect(countByEndpoint(claims.filter((each) => each.endpointId === disabled))).toEqual({
        [disabled]: 6,
      });
      const of = claims.filter((each) => each.endpointId === id);
      expect(of.map(({ cancelReason }) => cancelReason).sort()).toEqual(
        ['consent_withdrawn', 'consent_withdrawn', 'consent_withdrawn', null, null].sort(),
      );
    });

    it('gives everything once there is no limit any more', async () => {
      const id = await makeEndpoint(5);
      await throttle(id, 1);
      expect(await claim()).toHaveLength(1);
      await throttle(id, null);
      expect(await claim()).toHaveLength(4);
    });
  });
});
