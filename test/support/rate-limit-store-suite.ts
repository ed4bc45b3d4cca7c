import { randomUUID } from 'node:crypto';
import { SLOTS_PER_WINDOW, type RateLimitStore } from '#access/rate-limits/store/rate-limit-store.js';
import { redisKey } from '#access/rate-limits/store/shared-rate-limit-store.js';

export const HOUR = 3_600_000;
/** The maximum number of entries that a store keeps for one key. */
export const MOST_ENTRIES = 2 * SLOTS_PER_WINDOW + 2;

/** What the suite needs: the store, and a way to let time pass for it. */
export interface Driver {
  store: RateLimitStore;
  /** Lets exactly this many milliseconds pass; otherwise time stands still. */
  pass(milliseconds: number): Promise<void>;
}

export const newKey = (namespace = 'test') => `${namespace}:${randomUUID()}`;

/** How many of the given number of simultaneous requests were allowed. */
export async function allowedOf(
  count: number,
  consume: (n: number) => ReturnType<RateLimitStore['consume']>,
) {
  const decisions = await Promise.all(Array.from({ length: count }, (_, n) => consume(n)));
  return decisions.filter((decision) => decision.allowed).length;
}

/** The tests that every store must pass. */
export function storeSuite(driver: () => Driver): void {
  const consume = (key: string, limit: number, windowMs = HOUR) =>
    driver().store.consume(key, limit, windowMs);

  it('allows exactly 50 of 200 simultaneous requests', async () => {
    const key = newKey();
    expect(await allowedOf(200, () => consume(key, 50))).toBe(50);
  });

  it('reports the remaining requests, and refuses the next one until a place is free', async () => {
    const key = newKey();
    expect(await consume(key, 2)).toEqual({ allowed: true, remaining: 1, retryAfterMs: 0 });
    expect(await consume(key, 2)).toEqual({ allowed: true, remaining: 0, retryAfterMs: 0 });
    const refused = await consume(key, 2);
    expect(refused).toMatchObject({ allowed: false, remaining: 0 });
    expect(refused.retryAfterMs).toBe(HOUR);
  });

  it('has a rolling window: only as many requests are allowed as have left the window', async () => {
    const key = newKey();
    const window = 100_000;
    await consume(key, 3, window);
    await driver().pass(50_000);
    await consume(key, 3, window);
    await consume(key, 3, window);
    const refused = await consume(key, 3, window);
    expect(refused.allowed).toBe(false);
    await driver().pass(refused.retryAfterMs);
    // The first request has left the window; the two in the middle have not.
    expect(await consume(key, 3, window)).toEqual({ allowed: true, remaining: 0, retryAfterMs: 0 });
    expect(await consume(key, 3, window)).toMatchObject({ allowed: false });
  });

  it.each([1, 5, 300])(
    'allows a request after waiting for retryAfterMs, with a limit of %i',
    async (limit) => {
      const key = newKey();
      for (let round = 0; round < 3; round++) {
        let refused = await consume(key, limit, 30_000);
        while (refused.allowed) refused = await consume(key, limit, 30_000);
        expect(refused.retryAfterMs).toBeGreaterThan(0);
        expect(refused.retryAfterMs).toBeLessThanOrEqual(30_000);
        await driver().pass(refused.retryAfterMs);
        expect((await consume(key, limit, 30_000)).allowed).toBe(true);
      }
    },
  );

  it('does not count refused requests', async () => {
    const key = newKey();
    await consume(key, 1, 60_000);
    const refused = await consume(key, 1, 60_000);
    await driver().pass(10_000);
    expect(await allowedOf(50, () => consume(key, 1, 60_000))).toBe(0);
    const again = await consume(key, 1, 60_000);
    expect(again.allowed).toBe(false);
    expect(again.retryAfterMs).toBe(refused.retryAfterMs - 10_000);
    await driver().pass(again.retryAfterMs);
    expect(await consume(key, 1, 60_000)).toEqual({ allowed: true, remaining: 0, retryAfterMs: 0 });
  });

  it('applies a changed limit at once, including requests counted before', async () => {
    const key = newKey();
    for (let n = 0; n < 10; n++) await consume(key, 10, 50_000);
    expect((await consume(key, 10, 50_000)).allowed).toBe(false);
    expect(await consume(key, 12, 50_000)).toEqual({ allowed: true, remaining: 1, retryAfterMs: 0 });
    const refused = await consume(key, 3, 50_000);
    expect(refused).toMatchObject({ allowed: false, remaining: 0 });
    await driver().pass(refused.retryAfterMs);
    expect((await consume(key, 3, 50_000)).allowed).toBe(true);
  });

  it('refunds the newest request, and never counts below zero', async () => {
    const key = newKey();
    await driver().store.giveBack(key, HOUR);
    await consume(key, 2);
    await consume(key, 2);
    await driver().store.giveBack(key, HOUR);
    expect(await consume(key, 2)).toMatchObject({ allowed: true, remaining: 0 });
    for (let n = 0; n < 5; n++) await driver().store.giveBack(key, HOUR);
    expect(await consume(key, 2)).toMatchObject({ allowed: true, remaining: 1 });
  });

  it('refunds requests out of many that are stored together', async () => {
    const key = newKey();
    for (let n = 0; n < 400; n++) await consume(key, 400);
    for (let n = 0; n < 350; n++) await driver().store.giveBack(key, HOUR);
    expect(await consume(key, 400)).toMatchObject({ allowed: true, remaining: 349 });
  });

  it('refunds nothing that has left the window', async () => {
    const key = newKey();
    await consume(key, 1, 30_000);
    await driver().pass(30_100);
    await driver().store.giveBack(key, 30_000);
    expect(await consume(key, 1, 30_000)).toMatchObject({ allowed: true });
    expect(await consume(key, 1, 30_000)).toMatchObject({ allowed: false });
  });

  it('clears one key and no other', async () => {
    const [key, other] = [newKey(), newKey()];
    await consume(key, 1);
    await consume(other, 1);
    await driver().store.clear(key);
    expect((await consume(key, 1)).allowed).toBe(true);
    expect((await consume(other, 1)).allowed).toBe(false);
  });

  it('keeps unusual, long and similar keys apart', async () => {
    const long = 'x'.repeat(200);
    const odd = [
      '',
      ' ',
      'a',
      'A',
      'a ',
      'a:',
      ':a',
      '{a}',
      '{a',
      '}a{',
      '{}',
      '{',
      '}',
      'a*',
      'a\n',
      'a\0',
      '#a',
    ];
    const foreign = ['ä', 'a\u0308', '\ud800', '\ud801', '\ufffd', long, `${long}y`, 'x'.repeat(1_000_000)];
    const salt = randomUUID();
    const keys = [...odd, ...foreign].map((each) => `${each}${salt}`);
    // The hashed form of a long key, used as a key itself.
    keys.push(redisKey(`${long}${salt}`).slice('cds:rl:{'.length, -1));
    for (const key of keys) expect((await consume(key, 1)).allowed).toBe(true);
    for (const key of keys) expect((await consume(key, 1)).allowed).toBe(false);
    for (const key of keys) await driver().store.clear(key);
    for (const key of keys) expect((await consume(key, 1)).allowed).toBe(true);
    for (const key of keys) await driver().store.clear(key);
  });

  it('counts against a huge limit, and then against a low one', async () => {
    const key = newKey();
    for (let n = 0; n < 1_000; n++) await consume(key, 1_000_000_000);
    expect(await consume(key, 1_000_000_000)).toMatchObject({ allowed: true, remaining: 999_998_999 });
    expect(await consume(key, 1_001)).toMatchObject({ allowed: false });
  });

  it('rejects an invalid limit or window', async () => {
    for (const limit of [0, -1, 1.5, NaN, Infinity]) await expect(consume(newKey(), limit)).rejects.toThrow();
    for (const window of [0, -1, 1.5, NaN]) await expect(consume(newKey(), 1, window)).rejects.toThrow();
  });
}
