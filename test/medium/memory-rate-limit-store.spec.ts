import * as fc from 'fast-check';
import assert from 'node:assert/strict';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { MemoryRateLimitStore, RollingLog } from '#access/rate-limits/store/memory-rate-limit-store.js';
import { SLOTS_PER_WINDOW, type RateLimitDecision } from '#access/rate-limits/store/rate-limit-store.js';
import { HOUR, MOST_ENTRIES, storeSuite } from '../support/rate-limit-store-suite.js';

const RUNS = process.env.NIGHTLY ? 3_000 : 100;

describe('MemoryRateLimitStore', () => {
  let now = 5_000_000;
  const store = new MemoryRateLimitStore({ clock: () => now });
  storeSuite(() => ({ store, pass: async (milliseconds) => void (now += milliseconds) }));

  it('stays below 100 MB with more keys than it keeps, and drops idle keys', async () => {
    const bounded = new MemoryRateLimitStore({ clock: () => now });
    const before = memory();
    for (let n = 0; n < 150_000; n++) await bounded.consume(`address:${n}`, 1_000, 60_000);
    const megabytes = (memory() - before) / 1e6;
    process.stdout.write(`150,000 keys: ${bounded.size} kept, ${megabytes.toFixed(1)} MB\n`);
    expect(megabytes).toBeLessThan(100);
    now += 60_000;
    for (let n = 0; n < 60_000; n++) await bounded.consume(`address:later-${n}`, 1_000, 60_000);
    expect(bounded.size).toBe(60_000);
  });

  it('lets a flood of keys in one namespace evict only counters of that namespace', async () => {
    const small = new MemoryRateLimitStore({ clock: () => now, keysPerNamespace: 100 });
    await small.consume('client:one', 1, HOUR);
    await small.consume('address:idle', 1, HOUR);
    await small.consume('address:busy', 1, HOUR);
    for (let n = 0; n < 1_000; n++) {
      await small.consume(`address:${n}`, 1, HOUR);
      if (n % 50 === 0) await small.consume('address:busy', 1, HOUR);
    }
    expect((await small.consume('client:one', 1, HOUR)).allowed).toBe(false);
    expect((await small.consume('address:busy', 1, HOUR)).allowed).toBe(false);
    expect((await small.consume('address:idle', 1, HOUR)).allowed).toBe(true);
  });

  it('uses no more memory for any number of namespaces', async () => {
    const small = new MemoryRateLimitStore({ clock: () => now, keysPerNamespace: 10 });
    for (let n = 0; n < 10_000; n++) await small.consume(`namespace-${n}:key`, 1, HOUR);
    expect(small.size).toBeLessThanOrEqual(170);
  });

  it('keeps a bounded log for every limit, and never asks to wait longer than the window', () => {
    const log = new RollingLog(0);
    const window = 60_000_000;
    let [entries, wait] = [0, 0];
    for (let time = 0; time < 3 * window; time += 1_000) {
      wait = Math.max(wait, log.consume(50_000, window, time).retryAfterMs);
      entries = Math.max(entries, log.entries);
    }
    expect(entries).toBeLessThanOrEqual(MOST_ENTRIES);
    expect(wait).toBeLessThanOrEqual(60_000);
  });
});

describe('MemoryRateLimitStore against an exact model', () => {
  const WINDOW = 1_000;
  interface Step {
    /** The time to let pass first, in microseconds. */
    passUs: number;
    what: 'consume' | 'wait' | 'giveBack' | 'clear';
    times: number;
    apartUs: number;
    limit: number | null;
  }

  interface Seen {
    decision: RateLimitDecision;
    limit: number;
    /** How many requests the model had in the window before this request. */
    exact: number;
    /** The same for a window that is one slot longer. */
    longer: number;
    /** When the model would next allow a request, rounded up to milliseconds. */
    exactWaitMs: number;
  }

  const steps: fc.Arbitrary<Step[]> = fc.array(
    fc.record({
      passUs: fc.oneof(
        fc.constantFrom(0, 1, 999, 1_000, WINDOW * 1_000, WINDOW * 1_000 - 1, WINDOW * 999),
        fc.nat(40_000),
        fc.nat(3_000_000),
      ),
      what: fc.constantFrom<Step['what'][]>('consume', 'consume', 'consume', 'wait', 'giveBack', 'clear'),
      times: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 150 })),
      apartUs: fc.oneof(fc.constant(0), fc.nat(3_000)),
      limit: fc.option(fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 700 }))),
    }),
    { minLength: 1, maxLength: 60 },
  );

  /** Runs the steps; the model knows the time of every request that was allowed and not refunded. */
  async function run(limit: number, each: Step[], check: (seen: Seen) => void): Promise<void> {
    let us = 7_000_000_123;
    let model: number[] = [];
    const store = new MemoryRateLimitStore({ clock: () => us / 1000 });
    /** The model in order of time: what has left the window is in front. */
    const within = (windowMs: number) =>
      model.slice(model.findLastIndex((time) => time <= us - windowMs * 1000) + 1);
    const consume = async (now: number) => {
      const exact = within(WINDOW);
      const leaving = exact[exact.length - now] ?? us;
      const exactWaitMs = Math.ceil((leaving + WINDOW * 1000 - us) / 1000);
      const longer = within(WINDOW + WINDOW / SLOTS_PER_WINDOW).length;
      const decision = await store.consume('key', now, WINDOW);
      check({ decision, limit: now, exact: exact.length, longer, exactWaitMs });
      if (decision.allowed) model.push(us);
      return decision;
    };
    const once = async (what: Step['what'], now: number) => {
      if (what === 'clear') {
        model = [];
        return store.clear('key');
      }
      if (what === 'giveBack') {
        if (within(WINDOW).length > 0) model.pop();
        return store.giveBack('key', WINDOW);
      }
      const decision = await consume(now);
      if (what === 'consume' || decision.allowed) return;
      us += decision.retryAfterMs * 1000;
      assert((await consume(now)).allowed, 'served after retryAfterMs');
    };
    for (const { passUs, what, times, apartUs, limit: other } of each) {
      us += passUs;
      for (let n = 0; n < times; n++) {
        us += apartUs;
        await once(what, other ?? limit);
      }
    }
  }

  it('never allows more in any window, refuses for at most one slot too long, and allows a request after retryAfterMs', async () => {
    const anyLimit = fc.integer({ min: 1, max: 700 });
    await fc.assert(
      fc.asyncProperty(anyLimit, steps, (limit, each) =>
        run(limit, each, ({ decision, limit: now, exact, longer }) => {
          if (decision.allowed) assert(exact < now, 'not too many');
          else assert(longer >= now, 'not refused for nothing');
          assert(decision.remaining <= Math.max(0, now - exact), 'no more remain than there are');
          assert(decision.retryAfterMs <= WINDOW, 'no wait longer than the window');
          assert.equal(decision.retryAfterMs > 0, !decision.allowed);
        }),
      ),
      { numRuns: RUNS },
    );
  });

  it('is exact to the millisecond with a few requests', async () => {
    const few = fc.integer({ min: 1, max: SLOTS_PER_WINDOW });
    const lower = (step: Step) => ({ ...step, limit: step.limit && Math.min(step.limit, SLOTS_PER_WINDOW) });
    await fc.assert(
      fc.asyncProperty(few, steps, (limit, each) =>
        run(limit, each.map(lower), ({ decision, limit: now, exact, exactWaitMs }) => {
          const allowed = exact < now;
          const remaining = Math.max(0, now - exact - 1);
          assert.deepEqual(decision, { allowed, remaining, retryAfterMs: allowed ? 0 : exactWaitMs });
        }),
      ),
      { numRuns: RUNS },
    );
  });
});

/** The bytes in use after a garbage collection. */
function memory(): number {
  setFlagsFromString('--expose_gc');
  (runInNewContext('gc') as () => void)();
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  return heapUsed + external + arrayBuffers;
}
