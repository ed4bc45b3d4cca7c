import { randomUUID } from 'node:crypto';
import type { ClaimedDelivery, FinishedClaim } from '#events/webhooks/deliveries/claimed-delivery.js';
import { newId } from '#platform/secrets/ids.js';
import { ATTEMPT, useDeliveryQueues } from '../support/delivery-queues.js';

const { stage, query, makeEndpoint, makeUserOf, storeAt, settled, claim, endLeases, finished } =
  useDeliveryQueues();

const FAILED: Partial<FinishedClaim> = { state: 'failed', attempt: { ...ATTEMPT, status: 500 } };
const CANCELLED: Partial<FinishedClaim> = {
  state: 'cancelled',
  cancelReason: 'scope_missing',
  attempt: undefined,
};
const RETRIED = { state: 'pending', waitSeconds: 3600 } as const;

describe('the queue of deliveries to an ordered endpoint', () => {
  let endpoint: string;
  let clientId: string;
  let [anna, ben] = ['', ''];

  beforeEach(async () => {
    endpoint = await makeEndpoint(0);
    await query('UPDATE webhook_endpoints SET ordered = true WHERE id = $1', [endpoint]);
    const [owner] = await query<{ client_id: string; owner_id: string }>(
      'SELECT client_id, owner_id FROM clients JOIN webhook_endpoints e ON e.client_id = clients.id WHERE e.id = $1',
      [endpoint],
    );
    clientId = owner!.client_id;
    anna = owner!.owner_id;
    ben = await makeUser();
  });

  const makeUser = () => makeUserOf(clientId);
  const store = (
    userId: string | null,
    { to = endpoint, ...rest }: Parameters<typeof storeAt>[2] & { to?: string } = {},
  ) => storeAt(to, userId, rest);
  const ids = (claims: ClaimedDelivery[]) => claims.map(({ id }) => id).sort();
  const claimed = async (by = stage.queue) => ids(await claim(50, 32, new Map(), by));
  async function end(claims: ClaimedDelivery[], rest: Partial<FinishedClaim> = {}) {
    await stage.queue.finish(claims.map((each) => finished(each, rest)));
  }
  const behind = async () =>
    (await query<{ id: string }>('SELECT id FROM deliveries WHERE behind ORDER BY id')).map(({ id }) => id);

  it('has only the first of each user, and the next one when that has ended', async () => {
    const [first, second, third] = [await store(anna), await store(anna), await store(anna)];
    const other = await store(ben);
    const claims = await claim();
    expect(ids(claims)).toEqual([first, other].sort());
    expect(claims.map(({ sequenceGap }) => sequenceGap)).toEqual([0, 0]);
    expect(await behind()).toEqual([second, third].sort());
    // Neither another instance nor this one gets the second while the first is leased, or waits for its retry.
    expect(await claimed(stage.other)).toEqual([]);
    await end(
      claims.filter(({ id }) => id === first),
      RETRIED,
    );
    expect(await claimed()).toEqual([]);
    await query('UPDATE deliveries SET next_attempt_at = now(), due_at = now() WHERE id = $1', [first]);
    const again = await claim();
    expect(ids(again)).toEqual([first]);
    await end(again);
    expect(await behind()).toEqual([third]);
    expect(await claimed(stage.other)).toEqual([second]);
  });

  it('goes on after the last retry and after a cancelled one, and says how many are missing', async () => {
    await store(anna);
    await end(await claim(), { state: 'delivered' });
    for (const ending of [FAILED, CANCELLED]) {
      await store(anna);
      await end(await claim(), ending);
    }
    const next = await store(anna);
    await store(ben);
    const claims = await claim();
    const gaps = new Map(claims.map(({ id, sequenceGap }) => [id, sequenceGap]));
    expect(gaps.size).toBe(2);
    expect(gaps.get(next)).toBe(2);
    gaps.delete(next);
    expect([...gaps.values()]).toEqual([0]);
    // A retry says the same, by another instance, too.
    await end(claims, { ...RETRIED, waitSeconds: 0 });
    const retried = await claim(50, 32, new Map(), stage.other);
    expect(retried.map(({ sequenceGap }) => sequenceGap).sort()).toEqual([0, 2]);
    await end(retried);
    await store(anna);
    expect((await claim()).map(({ sequenceGap }) => sequenceGap)).toEqual([0]);
  });

  it('keeps the order of the transactions, whatever is stored or due first', async () => {
    // The later transaction commits first, and its event has the smaller id.
    const [early, late] = [newId('evnt'), newId('evnt')];
    const { pool, first } = await beginStoring(late);
    const second = await store(anna, { event: early, waits: false });
    await query(
      "UPDATE deliveries SET next_attempt_at = now() - interval '1 minute', due_at = now() - interval '1 minute' WHERE id = $1",
      [second],
    );
    expect(await claimed()).toEqual([]);
    await pool.commit();
    await settled();
    const claims = await claim();
    expect(ids(claims)).toEqual([first]);
    await end(claims);
    expect(await claimed()).toEqual([second]);
  });

  /** A transaction that has stored an event of Anna and its delivery, and waits. */
  async function beginStoring(event: string) {
    const runner = stage.sources[1]!.createQueryRunner();
    await runner.startTransaction();
    await runner.query(
      "INSERT INTO events (id, type, user_id, payload, deliveries) VALUES ($1, 'vehicle.updated', $2, '{}', 1)",
      [event, anna],
    );
    const [{ id }] = (await runner.query(
      `INSERT INTO deliveries (id, event_id, event_type, endpoint_id, client_id, line, place)
       SELECT new_delivery_id(), $1, 'vehicle.updated', id, client_id, hashtextextended($2::text, 0), pg_current_xact_id()::text::bigint
         FROM webhook_endpoints WHERE id = $3 RETURNING id`,
      [event, anna, endpoint],
    )) as [{ id: string }];
    const commit = async () => {
      await runner.commitTransaction();
      await runner.release();
    };
    return { pool: { commit }, first: id };
  }

  it('has tests, which are about no user, beside all lines', async () => {
    await store(anna);
    await end(await claim(), RETRIED);
    await store(anna);
    const test = await store(null);
    const claims = await claim();
    expect(ids(claims)).toEqual([test]);
    expect(claims[0]!.sequenceGap).toBeNull();
  });

  it('looks again at one that was put off, after as long as it has waited', async () => {
    const first = await store(anna);
    await end(await claim(), RETRIED);
    const second = await store(anna);
    await claim();
    const wait = async () =>
      (
        await query<{ wait: number }>(
          'SELECT extract(epoch FROM next_attempt_at - now())::float8 AS wait FROM deliveries WHERE id = $1',
          [second],
        )
      )[0]!.wait;
    expect(Math.abs((await wait()) - 60)).toBeLessThan(30);
    await query(
      "UPDATE deliveries SET next_attempt_at = now(), due_at = now(), created_at = now() - interval '1 hour' WHERE id = $1",
      [second],
    );
    expect(await claimed()).toEqual([]);
    expect(Math.abs((await wait()) - 3600)).toBeLessThan(60);
    // As when the events of the first were removed because they were old.
    await query('DELETE FROM deliveries WHERE id = $1', [first]);
    await query('UPDATE deliveries SET next_attempt_at = now(), due_at = now() WHERE id = $1', [second]);
    expect(await claimed()).toEqual([second]);
  });

  it('keeps the order for what waited when it was switched on, and for what was stored beside the switch', async () => {
    await query('UPDATE webhook_endpoints SET ordered = false WHERE id = $1', [endpoint]);
    const [first, second] = [await store(anna, { hasPlace: false }), await store(anna, { hasPlace: false })];
    const [claim1] = (await claim(1)) as [ClaimedDelivery];
    expect([first, second]).toContain(claim1.id);
    await query(
      'UPDATE webhook_endpoints SET ordered = true, lined_up = false, updated_at = now() WHERE id = $1',
      [endpoint],
    );
    await end([claim1], { ...RETRIED, waitSeconds: 0 });
    const gate = await stage.queue.claim(randomUUID(), 50, 32, new Map());
    expect(gate).toMatchObject({ deliveries: [], moved: 0, toLineUp: [endpoint] });
    expect(await stage.queue.lineUp(endpoint)).toBe(false);
    expect(await stage.queue.lineUp(endpoint)).toBe(true);
    // Stored by a transaction that had read the endpoint before.
    const third = await store(anna, { hasPlace: false });
    expect(await claimed()).toEqual([]);
    const claims = await claim();
    expect(ids(claims)).toEqual([first]);
    await end(claims);
    const next = await claim();
    expect(ids(next)).toEqual([second]);
    await end(next);
    expect(await claimed()).toEqual([third]);
  });

  it('is due at once when it is switched off', async () => {
    await store(anna);
    await end(await claim(), RETRIED);
    const second = await store(anna);
    await claim();
    expect(await behind()).toEqual([second]);
    await query(
      'UPDATE webhook_endpoints SET ordered = false, lined_up = false, updated_at = now() WHERE id = $1',
      [endpoint],
    );
    while (!(await stage.other.lineUp(endpoint)));
    const claims = await claim();
    expect(ids(claims)).toEqual([second]);
    expect(claims[0]!.sequenceGap).toBeNull();
  });

  it('is lined up anew if it is switched again meanwhile', async () => {
    await query(
      'UPDATE webhook_endpoints SET ordered = false, lined_up = false, updated_at = now() WHERE id = $1',
      [endpoint],
    );
    const runner = stage.sources[1]!.createQueryRunner();
    await runner.startTransaction();
    await runner.query('UPDATE webhook_endpoints SET ordered = true, updated_at = now() WHERE id = $1', [
      endpoint,
    ]);
    const lining = stage.queue.lineUp(endpoint);
    await stage.database.query('SELECT 1');
    await runner.commitTransaction();
    await runner.release();
    const wasFirst = await lining;
    const [row] = await query<{ lined_up: boolean; ordered: boolean }>(
      'SELECT lined_up, ordered FROM webhook_endpoints WHERE id = $1',
      [endpoint],
    );
    // Either it waited for the switch and left the rest to the next call, or it came after it.
    expect(row).toEqual({ ordered: true, lined_up: wasFirst });
  });

  it('cancels what waits at a disabled endpoint without an order', async () => {
    const all = [await store(anna), await store(anna)];
    await query('UPDATE webhook_endpoints SET enabled = false, disabled_at = now() WHERE id = $1', [
      endpoint,
    ]);
    const claims = await claim();
    expect(ids(claims)).toEqual(all.sort());
    expect(claims.map(({ cancelReason }) => cancelReason)).toEqual([
      'endpoint_disabled',
      'endpoint_disabled',
    ]);
  });

  it('hands each user to one instance only, however many claim at once', async () => {
    const users = [anna, ben, await makeUser(), await makeUser()];
    for (let n = 0; n < 10; n++) for (const user of users) await store(user);
    const seen: string[] = [];
    const inHand = new Set<string>();
    const lineOf = async (id: string) =>
      (await query<{ line: string }>('SELECT line::text FROM deliveries WHERE id = $1', [id]))[0]!.line;
    const work = async (by: typeof stage.queue) => {
      for (let empty = 0; empty < 20;) {
        const claims = await claim(3, 32, new Map(), by);
        empty = claims.length === 0 ? empty + 1 : 0;
        const lines = await Promise.all(claims.map(({ id }) => lineOf(id)));
        for (const line of lines) {
          expect(inHand.has(line)).toBe(false);
          inHand.add(line);
        }
        seen.push(...claims.map(({ id }) => id));
        await query('SELECT 1');
        for (const line of lines) inHand.delete(line);
        await by.finish(claims.map((each) => finished(each)));
      }
    };
    await Promise.all([work(stage.queue), work(stage.other)]);
    expect(new Set(seen).size).toBe(seen.length);
    const placed = await query<{ id: string }>('SELECT id FROM deliveries ORDER BY line, place, event_id');
    expect(placed).toHaveLength(40);
    const order = new Map(seen.map((id, n) => [id, n]));
    for (let n = 0; n < 40; n += 10) {
      const turns = placed.slice(n, n + 10).map(({ id }) => order.get(id)!);
      expect(turns).toEqual(turns.toSorted((a, b) => a - b));
    }
    await endLeases();
    expect(await claimed()).toEqual([]);
  });
});
