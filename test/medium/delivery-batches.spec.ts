import { randomUUID } from 'node:crypto';
import { requestsOf } from '#events/webhooks/batches/batch-request.js';
import type { ClaimedDelivery } from '#events/webhooks/deliveries/claimed-delivery.js';
import { useDeliveryQueues } from '../support/delivery-queues.js';

const { stage, query, makeEndpoint, makeUserOf, storeAt, settled, claim, endLeases, finished } =
  useDeliveryQueues();

describe('the queue of deliveries to an endpoint with batches', () => {
  let endpoint: string;
  let clientId: string;
  let anna: string;

  beforeEach(async () => {
    [endpoint, clientId] = await make({ max: 100, wait_ms: 0 });
    anna = await makeUserOf(clientId);
  });

  async function make(batch: object, more = ''): Promise<[endpointId: string, clientId: string]> {
    const id = await makeEndpoint(0);
    const [row] = await query<{ client_id: string }>(
      `UPDATE webhook_endpoints SET batch = $2 ${more} WHERE id = $1 RETURNING client_id`,
      [id, JSON.stringify(batch)],
    );
    return [id, row!.client_id];
  }
  const change = (batch: object, more = '') =>
    query(`UPDATE webhook_endpoints SET batch = $2 ${more} WHERE id = $1`, [endpoint, JSON.stringify(batch)]);
  /** In the order of the feed. */
  async function storeAll(userIds: string[], payload = '{}'): Promise<string[]> {
    const ids: string[] = [];
    for (const userId of userIds) ids.push(await storeAt(endpoint, userId, { waits: false, payload }));
    await settled();
    return ids;
  }
  const batches = (claims: ClaimedDelivery[]) => requestsOf(claims).map((each) => each.map(({ id }) => id));
  const claimed = async (by = stage.queue) => batches(await claim(50, 32, new Map(), by));
  const times = <T>(n: number, value: T): T[] => Array<T>(n).fill(value);

  it('has one batch for a claim, in the order of the feed, of at most so many', async () => {
    await change({ max: 3, wait_ms: 0 });
    const ids = await storeAll(times(5, anna));
    expect(await claimed()).toEqual([ids.slice(0, 3)]);
    expect(await claimed(stage.other)).toEqual([ids.slice(3)]);
    expect(await claimed()).toEqual([]);
  });

  it('takes no more than there is room for, and leaves the turns of others', async () => {
    await storeAll(times(5, anna));
    const single = await makeEndpoint(4);
    const claims = await claim(3, 32);
    expect(requestsOf(claims)).toHaveLength(3);
    expect(claims.some(({ endpointId }) => endpointId === single)).toBe(true);
    await endLeases();
    expect((await claim(50, 32, new Map([[endpoint, 0]]))).map(({ endpointId }) => endpointId)).toEqual(
      times(4, single),
    );
  });

  it('waits for more as long as its first one may wait, and says how long that is', async () => {
    await change({ max: 3, wait_ms: 5000 });
    const ids = await storeAll(times(2, anna));
    const { deliveries, nextBatchMs } = await stage.queue.claim(randomUUID(), 50, 32, new Map());
    expect(deliveries).toEqual([]);
    expect(nextBatchMs).toBeGreaterThan(0);
    expect(nextBatchMs).toBeLessThanOrEqual(5000);
    await query("UPDATE deliveries SET created_at = now() - interval '6 seconds' WHERE id = $1", [ids[0]]);
    expect(await claimed()).toEqual([ids]);
  });

  it('does not wait when it is full', async () => {
    await change({ max: 2, wait_ms: 5000 });
    const ids = await storeAll(times(3, anna));
    expect(await claimed()).toEqual([ids.slice(0, 2)]);
    expect(await claimed()).toEqual([]);
  });

  it('has at most 256 kB, and one that is larger goes alone', async () => {
    const payload = (bytes: number) => JSON.stringify('x'.repeat(bytes - 2));
    const fitting = 262_144 - '{"type":"batch","data":[,]}'.length - 100_000;
    const ids = [
      ...(await storeAll([anna], payload(100_000))),
      ...(await storeAll([anna], payload(fitting))),
      ...(await storeAll([anna], '1')),
      ...(await storeAll([anna], payload(300_000))),
      ...(await storeAll([anna], '2')),
    ];
    expect(await claimed()).toEqual([ids.slice(0, 2)]);
    expect(await claimed()).toEqual([[ids[2]]]);
    expect(await claimed()).toEqual([[ids[3]]]);
    expect(await claimed()).toEqual([[ids[4]]]);
  });

  it('counts as one attempt of the minute', async () => {
    await query('INSERT INTO webhook_throttles (endpoint_id) VALUES ($1)', [endpoint]);
    await change({ max: 2, wait_ms: 0 }, ', max_per_minute = 2');
    const ids = await storeAll(times(6, anna));
    expect(await claimed()).toEqual([ids.slice(0, 2)]);
    expect(await claimed(stage.other)).toEqual([ids.slice(2, 4)]);
    expect(await claimed()).toEqual([]);
  });

  it('is leased as a whole: another instance gets it when the lease has ended, and the first one changes nothing then', async () => {
    const ids = await storeAll(times(3, anna));
    const before = await claim();
    expect(await claimed(stage.other)).toEqual([]);
    await endLeases();
    expect(await claimed(stage.other)).toEqual([ids]);
    await stage.queue.finish(before.map((each) => finished(each)));
    const [row] = await query<{ n: number }>(
      "SELECT count(*)::int AS n FROM deliveries WHERE state = 'pending'",
    );
    expect(row!.n).toBe(3);
  });

  it('leaves out what must not be sent any more', async () => {
    const ben = await makeUserOf(clientId);
    const ids = await storeAll([anna, ben, anna]);
    await query('DELETE FROM consents WHERE user_id = $1', [anna]);
    expect(await claimed()).toEqual(expect.arrayContaining([[ids[0]], [ids[1]], [ids[2]]]));
  });

  it('sends each by itself again when it has no batches any more', async () => {
    const ids = await storeAll(times(2, anna));
    await query('UPDATE webhook_endpoints SET batch = NULL WHERE id = $1', [endpoint]);
    const claims = await claim();
    expect(claims.map(({ batch }) => batch)).toEqual([null, null]);
    expect(claims.map(({ id }) => id).sort()).toEqual([...ids].sort());
  });

  describe('that is ordered', () => {
    let ben: string;

    beforeEach(async () => {
      ben = await makeUserOf(clientId);
      await change({ max: 3, wait_ms: 0 }, ', ordered = true');
    });
    const behind = async () =>
      (await query<{ id: string }>('SELECT id FROM deliveries WHERE behind ORDER BY id')).map(({ id }) => id);

    it('has several of a user, puts off what comes after them, and has as many when they have ended', async () => {
      const [a1, a2, a3, b4] = await storeAll([anna, anna, anna, ben]);
      const first = await claim();
      expect(batches(first)).toEqual([[a1, a2, a3]]);
      const [a5, a6, a7] = await storeAll(times(3, anna));
      expect(await claimed(stage.other)).toEqual([[b4]]);
      expect(await behind()).toEqual([a5, a6, a7].sort());
      await stage.queue.finish(first.map((each) => finished(each)));
      expect(await behind()).toEqual([]);
      expect(await claimed(stage.other)).toEqual([[a5, a6, a7]]);
    });

    it('has nothing of a user whose earlier event waits for its retry', async () => {
      const [a1, a2] = await storeAll([anna, anna]);
      const first = await claim();
      expect(batches(first)).toEqual([[a1, a2]]);
      await stage.queue.finish(
        first.map((each) =>
          finished(each, each.id === a1 ? { state: 'pending', waitSeconds: 3600 } : { state: 'pending' }),
        ),
      );
      expect(await claimed()).toEqual([]);
      await query('UPDATE deliveries SET next_attempt_at = now(), due_at = now()');
      expect(await claimed()).toEqual([[a1, a2]]);
    });

    it('ends before the first that another transaction has', async () => {
      await change({ max: 100, wait_ms: 0 });
      const [a1, a2, a3, b4] = await storeAll([anna, anna, anna, ben]);
      const other = stage.sources[0]!.createQueryRunner();
      await other.startTransaction();
      await other.query('SELECT 1 FROM deliveries WHERE id = $1 FOR UPDATE', [a2]);
      expect(await claimed(stage.other)).toEqual([[a1]]);
      await other.rollbackTransaction();
      await other.release();
      expect(await claimed()).toEqual([[b4]]);
      expect(await behind()).toEqual([a2, a3].sort());
    });

    it('takes a backlog of one user in order, by two instances at a time', async () => {
      await change({ max: 7, wait_ms: 0 });
      const ids = await storeAll(Array.from({ length: 60 }, (_, n) => (n % 3 === 0 ? ben : anna)));
      const sent: string[] = [];
      while (sent.length < ids.length) {
        const both = await Promise.all([stage.queue, stage.other].map((by) => claim(50, 32, new Map(), by)));
        for (const claims of both) {
          const [batch = []] = requestsOf(claims);
          sent.push(...batch.map(({ id }) => id));
          await stage.queue.finish(batch.map((each) => finished(each)));
        }
        // What was looked at while another had it is looked at again when it was said to be next, or later.
        await query('UPDATE deliveries SET next_attempt_at = now(), due_at = now() WHERE behind');
      }
      const owner = new Map(ids.map((id, n) => [id, n % 3 === 0 ? ben : anna]));
      for (const user of [anna, ben]) {
        expect(sent.filter((id) => owner.get(id) === user)).toEqual(
          ids.filter((id) => owner.get(id) === user),
        );
      }
    });
  });
});
