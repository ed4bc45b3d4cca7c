import type { ClaimedDelivery } from '#events/webhooks/deliveries/claimed-delivery.js';
import { MANY, useDeliveryQueues } from '../support/delivery-queues.js';

describe('the queue of deliveries of a throttled endpoint', () => {
  const { stage, query, makeEndpoint, claim, countByEndpoint } = useDeliveryQueues();

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
    expect(await claim(MANY, MANY, new Map(), stage.other)).toEqual([]);
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
        Array.from({ length: 12 }, (_, n) => claim(40, 5, new Map(), n % 2 ? stage.queue : stage.other)),
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
    await stage.sources[1]!.transaction(async (manager) => {
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
