import type { ClaimedDelivery } from '#events/webhooks/deliveries/claimed-delivery.js';
import { ATTEMPT, MANY, RECEIVER_URL, useDeliveryQueues } from '../support/delivery-queues.js';
import { whileHeld } from '../support/held-rows.js';
import { untilHourHasRoom } from '../support/hours.js';
import { until } from '../support/until.js';

describe('the queue of deliveries', () => {
  const { stage, query, makeEndpoint, claim, countByEndpoint, rows, endLeases, finished } =
    useDeliveryQueues();

  it('gives nothing that is not due, finished, or in another’s hand', async () => {
    expect(await claim()).toEqual([]);
    await makeEndpoint(3, '-1 minute');
    expect(await claim()).toEqual([]);
    await makeEndpoint(1);
    const [taken] = await claim();
    expect(await claim(MANY, MANY, new Map(), stage.other)).toEqual([]);
    await stage.queue.finish([finished(taken!)]);
    await endLeases();
    expect(await claim()).toEqual([]);
  });

  it('gives each delivery to one of any number of claimers', async () => {
    await Promise.all(Array.from({ length: 10 }, () => makeEndpoint(100)));
    const claims = await Promise.all(
      Array.from({ length: 12 }, (_, n) => claim(150, MANY, new Map(), n % 2 ? stage.queue : stage.other)),
    );
    const more: ClaimedDelivery[] = [];
    for (let next = await claim(150); next.length > 0; next = await claim(150)) more.push(...next);
    const ids = [...claims.flat(), ...more].map(({ id }) => id);
    expect([ids.length, new Set(ids).size]).toEqual([1000, 1000]);
  });

  it('gives under a lease of 30 s, which another takes up when it is over', async () => {
    await makeEndpoint(1);
    const now = async () => (await query<{ at: string }>('SELECT clock_timestamp()::text AS at'))[0]!.at;
    const before = await now();
    const [first] = await claim();
    const after = await now();
    const [held] = await rows();
    expect(held).toMatchObject({ state: 'pending', lease_id: first!.leaseId, attempts: 0 });
    const [lease] = await query(
      `SELECT next_attempt_at - interval '30 seconds' BETWEEN $1::timestamptz AND $2::timestamptz AS "is30s" FROM deliveries`,
      [before, after],
    );
    expect(lease).toEqual({ is30s: true });
    await endLeases();
    const [second] = await claim(1, 1, new Map(), stage.other);
    expect(second).toMatchObject({ id: first!.id });
    expect(second!.leaseId).not.toBe(first!.leaseId);
  });

  it('lets a late holder change nothing, neither delivery nor attempts nor endpoint', async () => {
    const endpointId = await makeEndpoint(1);
    const [late] = await claim();
    await endLeases();
    const [holder] = await claim(1, 1, new Map(), stage.other);
    const everything = async () => [
      await query('SELECT * FROM deliveries'),
      await query('SELECT * FROM delivery_attempts'),
      await query('SELECT * FROM webhook_endpoint_hours'),
      await query('SELECT * FROM webhook_endpoints'),
    ];
    const before = await everything();
    for (const state of ['delivered', 'failed'] as const)
      await stage.queue.finish([finished(late!, { state })]);
    await stage.queue.finish([finished(late!, { state: 'pending', waitSeconds: 5 })]);
    await stage.queue.finish([
      finished(late!, { state: 'cancelled', cancelReason: 'client_disabled', attempt: undefined }),
    ]);
    expect(await everything()).toEqual(before);
    await stage.other.finish([
      finished(holder!, { state: 'pending', waitSeconds: 60, attempt: { ...ATTEMPT, status: 500 } }),
    ]);
    await stage.queue.finish([finished(late!)]);
    expect(await rows()).toMatchObject([{ state: 'pending', attempts: 1, retries: 1, lease_id: null }]);
    expect(await query('SELECT endpoint_id, delivered, failed FROM webhook_endpoint_hours')).toEqual([
      { endpoint_id: endpointId, delivered: 0, failed: 1 },
    ]);
  });

  it('changes no index by a claim: each row has room beside it', async () => {
    await makeEndpoint(40);
    const inPlace = async () => {
      // A connection may hold back its statistics.
      await stage.statements[0]!.run('flush', 'SELECT pg_stat_force_next_flush()', []);
      const [row] = await query<{ n: number }>(
        "SELECT n_tup_hot_upd::int AS n FROM pg_stat_user_tables WHERE relname = 'deliveries'",
      );
      return row!.n;
    };
    const before = await inPlace();
    expect(await claim(MANY)).toHaveLength(40);
    // A page may be full already.
    await until('they are counted', async () => (await inPlace()) - before >= 36);
  });

  it('sends what was put off when it is due, beside what was not, and neither waits for the other', async () => {
    const endpoint = await makeEndpoint(3);
    // The second was never put off, and the third is put off until later.
    const [first, second, third] = await rows();
    await query('UPDATE deliveries SET due_at = NULL WHERE id = $1', [second!.id]);
    await query(
      "UPDATE deliveries SET due_at = now() + interval '1 hour', next_attempt_at = now() + interval '1 hour' WHERE id = $1",
      [third!.id],
    );
    const claims = await claim(MANY);
    expect(claims.map(({ id }) => id).sort()).toEqual([first!.id, second!.id].sort());
    await stage.queue.finish(
      claims.map((each) => finished(each, { state: 'pending', waitSeconds: 60, attempt: ATTEMPT })),
    );
    expect(await claim(MANY)).toEqual([]);
    await query(
      'UPDATE deliveries SET due_at = now(), next_attempt_at = now() WHERE endpoint_id = $1 AND id <> $2',
      [endpoint, third!.id],
    );
    expect(await claim(MANY)).toHaveLength(2);
  });

  it('gives no more of one endpoint than may be, or than there is room for, the oldest first', async () => {
    const [a, b, c] = [await makeEndpoint(50), await makeEndpoint(50), await makeEndpoint(50)];
    const oldest = await query<{ id: string }>(
      'SELECT id FROM deliveries WHERE endpoint_id = $1 ORDER BY next_attempt_at LIMIT 5',
      [b],
    );
    const claims = await claim(MANY, 20, new Map([[b, 5], [c, 0]])); // oxfmt-ignore
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

  it('prefers none of those in the same turn, so that more hanging endpoints than there is room for do not keep all of it', async () => {
    await Promise.all(Array.from({ length: 20 }, () => makeEndpoint(1)));
    const served = new Set<string>();
    for (let n = 0; n < 20; n++) {
      const [taken] = await claim(1);
      served.add(taken!.endpointId);
      await query("UPDATE deliveries SET lease_id = NULL, next_attempt_at = now() - interval '1 hour'");
    }
    // The same one each time would be the only one of 20.
    expect(served.size).toBeGreaterThan(1);
  });

  it('cancels one whose payload was erased, although it was made too late to be marked', async () => {
    await makeEndpoint(1);
    // Of a type without a scope: of the others, the consent ends with the person.
    await query("UPDATE events SET payload = NULL, user_id = NULL, type = 'user.consent_granted'");
    expect(await claim()).toMatchObject([{ payload: null, cancelReason: 'consent_withdrawn' }]);
  });

  it('tells nobody that an endpoint fails when it works again', async () => {
    const id = await makeEndpoint(2);
    await query('UPDATE webhook_endpoints SET recent_results = $1', ['x'.repeat(20)]);
    const [one, two] = await claim();
    expect(await stage.queue.finish([finished(one!)])).toEqual({ disable: [], failing: [] });
    const failed = finished(two!, { state: 'failed', attempt: { ...ATTEMPT, status: 500 } });
    expect(await stage.queue.finish([failed])).toEqual({ disable: [], failing: [id] });
  });

  it('tells of more results at once than are kept by their share: half of them must have failed', async () => {
    const id = await makeEndpoint(64);
    const claims = await claim();
    const write = (of: ClaimedDelivery[], failures: number) =>
      stage.queue.finish(
        of.map((each, n) =>
          finished(each, n < failures ? { state: 'failed', attempt: { ...ATTEMPT, status: 500 } } : {}),
        ),
      );
    const results = () => query('SELECT recent_results FROM webhook_endpoints');
    expect((await write(claims.slice(0, 32), 10)).failing).toEqual([]);
    expect(await results()).toEqual([{ recent_results: '.'.repeat(14) + 'x'.repeat(6) }]);
    expect((await write(claims.slice(32), 16)).failing).toEqual([id]);
    expect(await results()).toEqual([{ recent_results: '.'.repeat(10) + 'x'.repeat(10) }]);
  });

  it('takes results of all kinds at once, for several endpoints', async () => {
    const [a, b] = [await makeEndpoint(4), await makeEndpoint(2)];
    const claims = await claim();
    const of = (endpoint: string) => claims.filter(({ endpointId }) => endpointId === endpoint);
    const [a1, a2, a3, a4] = of(a);
    const [b1, b2] = of(b);
    const { disable: failing } = await stage.queue.finish([
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
    expect(byId.get(a2!.id)!.wait).toBeGreaterThan(60);
    expect(byId.get(a2!.id)!.wait).toBeLessThanOrEqual(100);
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
    await untilHourHasRoom();
    await Promise.all(Array.from({ length: 5 }, () => makeEndpoint(200)));
    const claims = await claim();
    const halves = [claims.filter((_, n) => n % 2), claims.filter((_, n) => !(n % 2)).reverse()];
    await Promise.all(
      halves.map((half, n) => [stage.queue, stage.other][n]!.finish(half.map((each) => finished(each)))),
    );
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
    expect((await stage.queue.finish(failed)).disable).toEqual([{ id: old, url: RECEIVER_URL }]);
  });

  it('judges an endpoint by the attempts at its present URL, also if it changes meanwhile', async () => {
    await untilHourHasRoom();
    const endpointId = await makeEndpoint(4);
    const claims = await claim();
    const moved = "UPDATE webhook_endpoints SET url = 'https://new.example/', failing_since = NULL";
    const failed = { state: 'failed' as const, attempt: { ...ATTEMPT, status: 500 } };
    const state = () =>
      query('SELECT failing_since IS NOT NULL AS failing, recent_results FROM webhook_endpoints');
    await whileHeld(stage, [moved], [() => stage.queue.finish([finished(claims[0]!, failed)])], 'COMMIT');
    expect(await state()).toEqual([{ failing: false, recent_results: '' }]);
    const atNew = { ...ATTEMPT, url: 'https://new.example/', status: 500 };
    await stage.queue.finish([finished(claims[1]!, { ...failed, attempt: atNew })]);
    expect(await state()).toEqual([{ failing: true, recent_results: 'x' }]);
    await stage.queue.finish([finished(claims[2]!), finished(claims[3]!, { ...failed, attempt: atNew })]);
    expect(await state()).toEqual([{ failing: true, recent_results: 'xx' }]);
    // All of them are in its statistics.
    expect(await query('SELECT endpoint_id, delivered, failed FROM webhook_endpoint_hours')).toEqual([
      { endpoint_id: endpointId, delivered: 1, failed: 3 },
    ]);
  });
});
