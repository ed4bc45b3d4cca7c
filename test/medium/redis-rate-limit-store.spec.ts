import * as fc from 'fast-check';
import { Cluster, Redis } from 'ioredis';
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { MemoryRateLimitStore } from '#access/rate-limits/store/memory-rate-limit-store.js';
import type { RateLimitStore } from '#access/rate-limits/store/rate-limit-store.js';
import { connectRedis } from '#access/rate-limits/store/redis-connection.js';
import { redisKey, RedisRateLimitStore } from '#access/rate-limits/store/shared-rate-limit-store.js';
import { CONSUME, GIVE_BACK } from '#access/rate-limits/store/redis-scripts.js';
import { allowedOf, HOUR, MOST_ENTRIES, newKey, storeSuite } from '../support/rate-limit-store-suite.js';
import { describeWithRedis, RedisServer, someRedis, type TestRedis } from '../support/redis-server.js';
import { until } from '../support/until.js';

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

  describe('with a clock under the test’s control', () => {
    let held: Redis | Cluster;
    let store: RateLimitStore;
    beforeAll(async () => {
      held = connectRedis(server.url);
      await until('connected', () => held.status === 'ready');
      store = new RedisRateLimitStore(held);
      await holdClock(held);
    });
    afterAll(() => held.disconnect());
    const pass = async (milliseconds: number) => void (await held.incrby(CLOCK, milliseconds * 1000));

    storeSuite(() => ({ store, pass }));

    it('asks nobody to wait longer than the window after its clock was set back', async () => {
      const key = newKey();
      const now = Number(await held.get(CLOCK));
      const tomorrow = now + 86_400_000_000;
      await held.rpush(redisKey(key), `1:1:${now}`, `3:2:${tomorrow}`, `4:1:${tomorrow}`);
      const refused = await store.consume(key, 3, 500);
      expect(refused.allowed).toBe(false);
      expect(refused.retryAfterMs).toBeLessThanOrEqual(500);
      await pass(refused.retryAfterMs);
      expect((await store.consume(key, 3, 500)).allowed).toBe(true);
    });
  });

  it('allows two instances together exactly 50 of 200 requests', async () => {
    const key = newKey();
    expect(await allowedOf(200, (n) => stores[n % 2]!.consume(key, 50, HOUR))).toBe(50);
  });

  it('counts like the store in memory, whatever the order of calls', async () => {
    const call = fc.record({
      limit: fc.integer({ min: 0, max: 300 }),
      times: fc.integer({ min: 1, max: 60 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(call, { maxLength: 20 }), async (calls) => {
        const key = newKey();
        const memory = new MemoryRateLimitStore({ clock: () => 0 });
        for (const { limit, times } of calls) {
          // A limit of 0 means a refund.
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
      { numRuns: 15 },
    );
  });

  it('keeps a bounded list under one short key, which expires on its own', async () => {
    const key = newKey();
    for (let n = 0; n < 2_000; n++) await stores[0]!.consume(key, 10_000, 1_000);
    expect(await clients[0]!.llen(redisKey(key))).toBeLessThanOrEqual(MOST_ENTRIES);
    expect(await clients[0]!.pttl(redisKey(key))).toBeLessThanOrEqual(2_000);
    expect(redisKey('{'.repeat(1_000_000)).length).toBeLessThan(60);
    await until('expired', async () => (await clients[0]!.exists(redisKey(key))) === 0);
  });

  it('never allows more than the limit in any window, and allows a caller after its wait, while 8 callers send requests', async () => {
    const key = newKey();
    const [limit, window] = [200, 400];
    /** When an allowed request was sent and when its response arrived: it was counted in between. */
    const allowed: { sent: number; answered: number }[] = [];
    // Redis's own time passes here. On a slow machine fewer requests are certain to be within one window, never more.
    // oxlint-disable-next-line tests/no-measured-times -- asserts no time: a slow machine only makes fewer of them count
    const now = () => performance.now();
    const press = async (n: number) => {
      while (allowed.length < 4 * limit) {
        const sent = now();
        const decision = await stores[n % 2]!.consume(key, limit, window);
        if (decision.allowed) allowed.push({ sent, answered: now() });
        else await pause(Math.min(decision.retryAfterMs, 5));
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, n) => press(n)));
    for (const { sent } of allowed) {
      const surelyWithin = allowed.filter((other) => other.sent >= sent && other.answered < sent + window);
      expect(surelyWithin.length).toBeLessThanOrEqual(limit);
    }
  });
});

describeWithRedis('own', 'RedisRateLimitStore with servers of its own', () => {
  it('continues when Redis has forgotten the scripts', async () => {
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

  it('counts each key of a cluster on the server that owns it', async () => {
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

const CLOCK = 'clock-of-the-test';

/** Changes only the time in the scripts: they read it from a key, and keys expire late by Redis's own clock. */
async function holdClock(client: Redis | Cluster): Promise<void> {
  const held = (lua: string) =>
    lua
      .replace("redis.call('TIME')", `{ 0, redis.call('GET', '${CLOCK}') }`)
      .replace("string.format('%.0f', window / 1000 + 1000)", String(HOUR));
  client.defineCommand('rateLimitConsume', { numberOfKeys: 1, lua: held(CONSUME) });
  client.defineCommand('rateLimitGiveBack', { numberOfKeys: 1, lua: held(GIVE_BACK) });
  expect([CONSUME, GIVE_BACK].map((lua) => held(lua).includes("'TIME'"))).toEqual([false, false]);
  await client.set(CLOCK, 1_000_000_000_000);
}
