import * as fc from 'fast-check';
import { Cluster, Redis } from 'ioredis';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { MemoryRateLimitStore } from '../../src/rate-limits/memory-rate-limit-store.js';
import {
  SLOTS_PER_WINDOW,
  type RateLimitDecision,
  type RateLimitStore,
} from '../../src/rate-limits/rate-limit-store.js';
import { connectRedis } from '../../src/rate-limits/redis-connection.js';
import { redisKey, RedisRateLimitStore } from '../../src/rate-limits/redis-rate-limit-store.js';
import { RequestLog } from '../../src/rate-limits/request-log.js';
import { describeWithRedis, RedisServer, someRedis, type TestRedis } from '../support/redis-server.js';
import { until } from '../support/until.js';

const HOUR = 3_600_000;
const MOST_ENTRIES = 2 * SLOTS_PER_WINDOW + 2;

/** What the suite needs of a store: the store, and how time passes for it. */
interface Driver {
  store: RateLimitStore;
  /** Lets exactly so many milliseconds pass, or a little more where time is real. */
  pass(milliseconds: number): Promise<void>;
}

const newKey = (namespace = 'test') => `${namespace}:${randomUUID()}`;

async function allowedOf(count: number, consume: (n: number) => ReturnType<RateLimitStore['consume']>) {
  const decisions = await Promise.all(Array.from({ length: count }, (_, n) => consume(n)));
  return decisions.filter((decision) => decision.allowed).length;
}

/** What every store must do; windows are short, since time may be real. */
function storeSuite(driver: () => Driver): void {
  const consume = (key: string, limit: number, windowMs = HOUR) =>
    driver().store.consume(key, limit, windowMs);

  it('lets exactly 50 of 200 simultaneous requests pass', async () => {
    const key = newKey();
    expect(await allowedOf(200, () => consume(key, 50))).toBe(50);
  });

  it('says what remains, and refuses the next one until a place is free', async () => {
    const key = newKey();
    expect(await consume(key, 2)).toEqual({ allowed: true, remaining: 1, retryAfterMs: 0 });
    expect(await consume(key, 2)).toEqual({ allowed: true, remaining: 0, retryAfterMs: 0 });
    const refused = await consume(key, 2);
    expect(refused).toMatchObject({ allowed: false, remaining: 0 });
    expect(refused.retryAfterMs).toBeGreaterThan(HOUR - 10_000);
    expect(refused.retryAfterMs).toBeLessThanOrEqual(HOUR);
  });

  it('rolls: only as many are allowed as have left the window', async () => {
    const key = newKey();
    const window = 1_000;
    await consume(key, 3, window);
    await driver().pass(500);
    await consume(key, 3, window);
    await consume(key, 3, window);
    const refused = await consume(key, 3, window);
    expect(refused.allowed).toBe(false);
    await driver().pass(refused.retryAfterMs);
    // The first has left; the two of the middle have not.
    expect(await consume(key, 3, window)).toEqual({ allowed: true, remaining: 0, retryAfterMs: 0 });
    expect(await consume(key, 3, window)).toMatchObject({ allowed: false });
  });

  it.each([1, 5, 300])('serves who waits retryAfterMs, with a limit of %i', async (limit) => {
    const key = newKey();
    for (let round = 0; round < 3; round++) {
      let refused = await consume(key, limit, 300);
      while (refused.allowed) refused = await consume(key, limit, 300);
      expect(refused.retryAfterMs).toBeGreaterThan(0);
      expect(refused.retryAfterMs).toBeLessThanOrEqual(300);
      await driver().pass(refused.retryAfterMs);
      expect((await consume(key, limit, 300)).allowed).toBe(true);
    }
  });

  it('does not count refused requests', async () => {
    const key = newKey();
    await consume(key, 1, 600);
    const refused = await consume(key, 1, 600);
    await driver().pass(100);
    expect(await allowedOf(50, () => consume(key, 1, 600))).toBe(0);
    const again = await consume(key, 1, 600);
    expect(again.allowed).toBe(false);
    // A millisecond for two clocks that need not go at quite the same pace.
    expect(again.retryAfterMs).toBeLessThanOrEqual(refused.retryAfterMs - 99);
    await driver().pass(again.retryAfterMs);
    expect(await consume(key, 1, 600)).toEqual({ allowed: true, remaining: 0, retryAfterMs: 0 });
  });

  it('applies a changed limit at once, with what was counted before', async () => {
    const key = newKey();
    for (let n = 0; n < 10; n++) await consume(key, 10, 500);
    expect((await consume(key, 10, 500)).allowed).toBe(false);
    expect(await consume(key, 12, 500)).toEqual({ allowed: true, remaining: 1, retryAfterMs: 0 });
    const refused = await consume(key, 3, 500);
    expect(refused).toMatchObject({ allowed: false, remaining: 0 });
    await driver().pass(refused.retryAfterMs);
    expect((await consume(key, 3, 500)).allowed).toBe(true);
  });

  it('gives back the newest request, never below none', async () => {
    const key = newKey();
    await driver().store.giveBack(key, HOUR);
    await consume(key, 2);
    await consume(key, 2);
    await driver().store.giveBack(key, HOUR);
    expect(await consume(key, 2)).toMatchObject({ allowed: true, remaining: 0 });
    for (let n = 0; n < 5; n++) await driver().store.giveBack(key, HOUR);
    expect(await consume(key, 2)).toMatchObject({ allowed: true, remaining: 1 });
  });

  it('gives back out of many kept together', async () => {
    const key = newKey();
    for (let n = 0; n < 400; n++) await consume(key, 400);
    for (let n = 0; n < 350; n++) await driver().store.giveBack(key, HOUR);
    expect(await consume(key, 400)).toMatchObject({ allowed: true, remaining: 349 });
  });

  it('gives nothing back of what has left the window', async () => {
    const key = newKey();
    await consume(key, 1, 300);
    await driver().pass(301);
    await driver().store.giveBack(key, 300);
    expect(await consume(key, 1, 300)).toMatchObject({ allowed: true });
    expect(await consume(key, 1, 300)).toMatchObject({ allowed: false });
  });

  it('forgets a cleared key and no other', async () => {
    const [key, other] = [newKey(), newKey()];
    await consume(key, 1);
    await consume(other, 1);
    await driver().store.clear(key);
    expect((await consume(key, 1)).allowed).toBe(true);
    expect((await consume(other, 1)).allowed).toBe(false);
  });

  it('keeps odd, long and similar keys apart', async () => {
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
    // What the store makes of a long key, taken for a key.
    keys.push(redisKey(`${long}${salt}`).slice('cds:rl:{'.length, -1));
    for (const key of keys) expect((await consume(key, 1)).allowed).toBe(true);
    for (const key of keys) expect((await consume(key, 1)).allowed).toBe(false);
    for (const key of keys) await driver().store.clear(key);
    for (const key of keys) expect((await consume(key, 1)).allowed).toBe(true);
    for (const key of keys) await driver().store.clear(key);
  });

  it('counts against a huge limit, and a low one afterwards', async () => {
    const key = newKey();
    for (let n = 0; n < 1_000; n++) await consume(key, 1_000_000_000);
    expect(await consume(key, 1_000_000_000)).toMatchObject({ allowed: true, remaining: 999_998_999 });
    expect(await consume(key, 1_001)).toMatchObject({ allowed: false });
  });

  it('refuses a limit or a window that means nothing', async () => {
    for (const limit of [0, -1, 1.5, NaN, Infinity]) await expect(consume(newKey(), limit)).rejects.toThrow();
    for (const window of [0, -1, 1.5, NaN]) await expect(consume(newKey(), 1, window)).rejects.toThrow();
  });
}

describe('MemoryRateLimitStore', () => {
  let now = 5_000_000;
  const store = new MemoryRateLimitStore({ clock: () => now });
  storeSuite(() => ({ store, pass: async (milliseconds) => void (now += milliseconds) }));

  it('stays within 100 MB with a million keys, and lets idle keys go', async () => {
    const bounded = new MemoryRateLimitStore({ clock: () => now });
    const before = memory();
    for (let n = 0; n < 1_000_000; n++) await bounded.consume(`address:${n}`, 1_000, 60_000);
    const megabytes = (memory() - before) / 1e6;
    process.stdout.write(`a million keys: ${bounded.size} kept, ${megabytes.toFixed(1)} MB\n`);
    expect(megabytes).toBeLessThan(100);
    now += 60_000;
    for (let n = 0; n < 60_000; n++) await bounded.consume(`address:later-${n}`, 1_000, 60_000);
    expect(bounded.size).toBe(60_000);
  });

  it('lets a flood of one namespace push out counts of that namespace alone', async () => {
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

  it('takes no more memory for any number of namespaces', async () => {
    const small = new MemoryRateLimitStore({ clock: () => now, keysPerNamespace: 10 });
    for (let n = 0; n < 10_000; n++) await small.consume(`namespace-${n}:key`, 1, HOUR);
    expect(small.size).toBeLessThanOrEqual(170);
  });

  it('keeps a bounded log whatever the limit, and lets nobody wait for longer than the window', () => {
    const log = new RequestLog(0);
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
    /** Time to let pass first, in microseconds. */
    passUs: number;
    what: 'consume' | 'wait' | 'giveBack' | 'clear';
    times: number;
    apartUs: number;
    limit: number | null;
  }

  interface Seen {
    decision: RateLimitDecision;
    limit: number;
    /** How many the model had in the window before this request. */
    exact: number;
    /** The same of a window that is one slot longer. */
    longer: number;
    /** When the model would next allow one, rounded up to milliseconds. */
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

  /** Runs the steps; the model knows the time of every request that was allowed and not given back. */
  async function run(limit: number, each: Step[], check: (seen: Seen) => void): Promise<void> {
    let us = 7_000_000_123;
    let model: number[] = [];
    const store = new MemoryRateLimitStore({ clock: () => us / 1000 });
    const within = (windowMs: number) => model.filter((time) => time > us - windowMs * 1000);
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

  it('never allows more in any window, refuses for at most a slot too long, and keeps the promise to wait', async () => {
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
      { numRuns: 300 },
    );
  });

  it('is exact to the millisecond with few requests', async () => {
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
      { numRuns: 300 },
    );
  });
});

describeWithRedis('any', 'RedisRateLimitStore', () => {
  let server: TestRedis;
  let clients: (Redis | Cluster)[];
  let stores: RateLimitStore[];

  beforeAll(async () => {
    server = await someRedis();
    clients = [connectRedis(server.url), connectRedis(server.url)];
    stores = clients.map((client) => new RedisRateLimitStore(client));
    for (const client of clients) await until('connected', () => client.status === 'ready');
  });

  afterAll(async () => {
    for (const client of clients) client.disconnect();
    await server.stop();
  });

  storeSuite(() => ({ store: stores[0]!, pass }));

  it('lets two instances together pass exactly 50 of 200', async () => {
    const key = newKey();
    expect(await allowedOf(200, (n) => stores[n % 2]!.consume(key, 50, HOUR))).toBe(50);
  });

  it('counts as the store in memory does, whatever the order of calls', async () => {
    const call = fc.record({
      limit: fc.integer({ min: 0, max: 300 }),
      times: fc.integer({ min: 1, max: 60 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(call, { maxLength: 20 }), async (calls) => {
        const key = newKey();
        const memory = new MemoryRateLimitStore({ clock: () => 0 });
        for (const { limit, times } of calls) {
          // A limit of none stands for giving back.
          for (let n = 0; n < times; n++) {
            const both = [stores[0]!, memory].map((store) =>
              limit === 0 ? store.giveBack(key, HOUR) : store.consume(key, limit, HOUR),
            );
            const [shared, local] = await Promise.all(both);
            assert.equal(shared?.allowed, local?.allowed);
            assert.equal(shared?.remaining, local?.remaining);
          }
        }
        await stores[0]!.clear(key);
      }),
      { numRuns: 30 },
    );
  });

  it('keeps a bounded list under one short key, which expires by itself', async () => {
    const key = newKey();
    for (let n = 0; n < 2_000; n++) await stores[0]!.consume(key, 10_000, 1_000);
    expect(await clients[0]!.llen(redisKey(key))).toBeLessThanOrEqual(MOST_ENTRIES);
    expect(await clients[0]!.pttl(redisKey(key))).toBeLessThanOrEqual(2_000);
    expect(redisKey('{'.repeat(1_000_000)).length).toBeLessThan(60);
    const deadline = 5_000;
    await until('expired', async () => (await clients[0]!.exists(redisKey(key))) === 0, deadline);
  });

  it('holds nobody up for longer than the window after its clock was set back', async () => {
    const key = newKey();
    const tomorrow = (Date.now() + 86_400_000) * 1000;
    await clients[0]!.rpush(redisKey(key), `1:1:${Date.now() * 1000}`, `3:2:${tomorrow}`, `4:1:${tomorrow}`);
    const refused = await stores[0]!.consume(key, 3, 500);
    expect(refused.allowed).toBe(false);
    expect(refused.retryAfterMs).toBeLessThanOrEqual(500);
    await pass(refused.retryAfterMs);
    expect((await stores[0]!.consume(key, 3, 500)).allowed).toBe(true);
  });

  it('never allows more than the limit in any window, and serves who waits, while 8 callers press', async () => {
    const key = newKey();
    const [limit, window] = [200, 400];
    /** When an allowed request was sent, and when its answer was here: it was counted in between. */
    const allowed: { sent: number; answered: number }[] = [];
    const end = performance.now() + 2_000;
    const press = async (n: number) => {
      while (performance.now() < end) {
        const sent = performance.now();
        const decision = await stores[n % 2]!.consume(key, limit, window);
        if (decision.allowed) allowed.push({ sent, answered: performance.now() });
        else await pass(Math.min(decision.retryAfterMs, 5));
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, n) => press(n)));
    expect(allowed.length).toBeGreaterThanOrEqual(4 * limit);
    for (const { sent } of allowed) {
      const surelyWithin = allowed.filter((other) => other.sent >= sent && other.answered < sent + window);
      expect(surelyWithin.length).toBeLessThanOrEqual(limit);
    }
  });
});

describeWithRedis('own', 'RedisRateLimitStore on servers of its own', () => {
  it('goes on when Redis has forgotten the scripts', async () => {
    const server = await RedisServer.start();
    const client = connectRedis(server.url) as Redis;
    try {
      await until('connected', () => client.status === 'ready');
      const store = new RedisRateLimitStore(client);
      const key = newKey();
      await store.consume(key, 50, HOUR);
      await client.script('FLUSH');
      expect(await allowedOf(100, () => store.consume(key, 50, HOUR))).toBe(49);
    } finally {
      client.disconnect();
      await server.stop();
    }
  });

  it('counts every key of a cluster on the server that it belongs to', async () => {
    const servers = [await cluster(), await cluster()];
    const admin = servers.map((server) => new Redis(server.url));
    await admin[0]!.call('CLUSTER', 'ADDSLOTSRANGE', '0', '8191');
    await admin[1]!.call('CLUSTER', 'ADDSLOTSRANGE', '8192', '16383');
    await admin[0]!.call('CLUSTER', 'MEET', '127.0.0.1', String(servers[1]!.port));
    for (const each of admin) {
      await until('the cluster is one', async () =>
        (await each.cluster('INFO')).includes('cluster_state:ok'),
      );
    }
    const client = connectRedis(servers.map((server) => server.url).join(','));
    try {
      await until('connected', () => client.status === 'ready');
      const store = new RedisRateLimitStore(client);
      const keys = Array.from({ length: 20 }, () => newKey());
      for (const key of keys) expect(await allowedOf(20, () => store.consume(key, 5, HOUR))).toBe(5);
      for (const each of admin) expect(await each.dbsize()).toBeGreaterThan(0);
      await store.giveBack(keys[0]!, HOUR);
      await store.clear(keys[1]!);
      expect(await store.consume(keys[0]!, 5, HOUR)).toMatchObject({ allowed: true, remaining: 0 });
      expect(await store.consume(keys[1]!, 5, HOUR)).toMatchObject({ allowed: true, remaining: 4 });
    } finally {
      client.disconnect();
      for (const each of admin) each.disconnect();
      for (const server of servers) await server.stop();
    }
  });

  const cluster = () => RedisServer.start({ options: ['--cluster-enabled', 'yes'] });
});

/** A timer may go off a fraction of a millisecond early. */
async function pass(milliseconds: number): Promise<void> {
  const until = performance.now() + milliseconds;
  for (let left = milliseconds; left > 0; left = until - performance.now()) await pause(Math.ceil(left));
}

/** Bytes in use after everything that is not has been let go. */
function memory(): number {
  setFlagsFromString('--expose_gc');
  (runInNewContext('gc') as () => void)();
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  return heapUsed + external + arrayBuffers;
}
