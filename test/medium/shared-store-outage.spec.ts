import { setTimeout as pause } from 'node:timers/promises';
import { inspect } from 'node:util';
import { Redis } from 'ioredis';
import { SharedRateLimitStore } from '../../src/rate-limits/shared-rate-limit-store.js';
import { freePort } from '../../src/database/embedded/free-port.js';
import { describeWithRedis, RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';

const HOUR = 3_600_000;
const PASSWORD = 'only-for-tests-8d1f';
/** What the store promises, and what a busy test machine may add to it, in milliseconds. */
const ANSWER = 100;
const TOLERANCE = 150;
const BACK_WITHIN = 1_000 + 500;

/** An instance of the service, as far as its counters go, and what it said. */
class Instance {
  readonly warnings: string[] = [];
  readonly infos: string[] = [];
  readonly states: boolean[] = [];
  readonly store: SharedRateLimitStore;

  constructor(url: string) {
    this.store = new SharedRateLimitStore(url, {
      logger: {
        warn: (line: string) => void this.warnings.push(line),
        log: (line: string) => void this.infos.push(line),
      },
      onStateChange: (shared) => void this.states.push(shared),
    });
  }

  /** One decision and how long it took, in milliseconds. */
  async timed(key: string, limit = 1_000): Promise<{ allowed: boolean; took: number }> {
    const begun = performance.now();
    const { allowed } = await this.store.consume(key, limit, HOUR);
    return { allowed, took: performance.now() - begun };
  }

  untilShared(shared = true, withinMs = BACK_WITHIN): Promise<void> {
    return until(`shared is ${shared}`, () => this.store.shared === shared, withinMs);
  }
}

describeWithRedis('own', 'SharedRateLimitStore', () => {
  let server: RedisServer;
  let instances: Instance[];
  const unhandled: unknown[] = [];
  const noteUnhandled = (error: unknown) => void unhandled.push(error);

  beforeAll(async () => {
    process.on('unhandledRejection', noteUnhandled);
    server = await RedisServer.start({ password: PASSWORD });
  });

  beforeEach(async () => {
    instances = [];
    await server.startIfEnded();
  });

  afterEach(async () => {
    for (const { store } of instances) await store.close();
    const lines = instances.flatMap(({ warnings, infos }) => [...warnings, ...infos]).join('\n');
    expect(lines).not.toContain(PASSWORD);
    expect(unhandled).toEqual([]);
  });

  afterAll(async () => {
    await server.stop();
    process.off('unhandledRejection', noteUnhandled);
  });

  function instance(url = server.url): Instance {
    const created = new Instance(url);
    instances.push(created);
    return created;
  }

  async function startedInstance(): Promise<Instance> {
    const created = instance();
    await created.store.ready();
    expect(created.store.shared).toBe(true);
    return created;
  }

  it('decides within 100 ms when Redis is killed, says so once, and comes back by itself', async () => {
    const one = await startedInstance();
    await one.timed('kill:before');
    const [during] = await Promise.all([
      Promise.all(Array.from({ length: 100 }, () => one.timed('kill:during', 50))),
      server.kill(),
    ]);
    for (const { took } of during) expect(took).toBeLessThan(ANSWER + TOLERANCE);
    await one.untilShared(false);
    for (let n = 0; n < 20; n++) expect((await one.timed('kill:away', 10)).allowed).toBe(n < 10);
    expect(one.warnings).toHaveLength(1);
    await server.start();
    await one.untilShared();
    expect(one.warnings).toHaveLength(1);
    expect(one.infos).toHaveLength(2);
    expect(one.states).toEqual([true, false, true]);
  });

  it('decides within 100 ms when Redis hangs, and no later request waits at all', async () => {
    const one = await startedInstance();
    server.hang();
    try {
      const first = await Promise.all(Array.from({ length: 100 }, () => one.timed('hang:first', 50)));
      for (const { took } of first) expect(took).toBeLessThan(ANSWER + TOLERANCE);
      expect(first.filter(({ allowed }) => allowed)).toHaveLength(50);
      // One after the other: waiting for Redis even now and then would take far longer.
      const begun = performance.now();
      for (let n = 0; n < 1_000; n++) await one.timed('hang:later');
      expect(performance.now() - begun).toBeLessThan(ANSWER + TOLERANCE);
      expect(one.warnings).toHaveLength(1);
      expect(one.warnings[0]).toContain('no answer within 100 ms');
    } finally {
      server.goOn();
    }
    await one.untilShared();
    expect(one.warnings).toHaveLength(1);
    expect(one.states).toEqual([true, false, true]);
  });

  it('comes back after Redis hung for so long that the connection was given up', async () => {
    const one = await startedInstance();
    server.hang();
    try {
      await one.timed('long:first');
      const end = performance.now() + 4_000;
      while (performance.now() < end) {
        expect((await one.timed('long:later')).took).toBeLessThan(TOLERANCE);
        await pause(20);
      }
    } finally {
      server.goOn();
    }
    await one.untilShared();
    expect(one.warnings).toHaveLength(1);
    expect(one.states).toEqual([true, false, true]);
  });

  it('counts for two instances together, each alone during an outage, and together again', async () => {
    const both = [await startedInstance(), await startedInstance()];
    const passed = async (key: string) => {
      const calls = Array.from({ length: 200 }, (_, n) => both[n % 2]!.timed(key, 50));
      return (await Promise.all(calls)).filter(({ allowed }) => allowed).length;
    };
    expect(await passed('two:before')).toBe(50);
    await server.kill();
    for (const each of both) await each.untilShared(false);
    expect(await passed('two:away')).toBe(100);
    await server.start();
    for (const each of both) await each.untilShared();
    expect(await passed('two:after')).toBe(50);
    for (const each of both) expect(each.warnings).toHaveLength(1);
  });

  it('starts with Redis away, and shares once it is there', async () => {
    await server.kill();
    const one = instance();
    const begun = performance.now();
    expect((await one.timed('start:first')).took).toBeLessThan(ANSWER + TOLERANCE);
    await one.store.ready();
    expect(performance.now() - begun).toBeLessThan(BACK_WITHIN);
    expect(one.states).toEqual([false]);
    expect(one.warnings).toEqual([expect.stringContaining('ECONNREFUSED')]);
    await server.start();
    await one.untilShared();
    expect(one.states).toEqual([false, true]);
    expect(one.infos).toHaveLength(1);
  });

  it('starts with Redis hanging', async () => {
    server.hang();
    try {
      const one = instance();
      const begun = performance.now();
      expect((await one.timed('start:hanging')).took).toBeLessThan(ANSWER + TOLERANCE);
      await one.store.ready();
      expect(performance.now() - begun).toBeLessThan(BACK_WITHIN + TOLERANCE);
      expect(one.states).toEqual([false]);
    } finally {
      server.goOn();
    }
    await instances[0]!.untilShared();
  });

  it('stays on its own, with one line, while Redis answers but takes nothing', async () => {
    const one = await startedInstance();
    const admin = new Redis(server.url);
    try {
      await admin.config('SET', 'maxmemory', '1');
      const end = performance.now() + 1_500;
      while (performance.now() < end) {
        expect((await one.timed('full:key')).took).toBeLessThan(ANSWER + TOLERANCE);
        await pause(10);
      }
      expect(one.warnings).toEqual([expect.stringContaining('OOM')]);
      expect(one.states).toEqual([true, false]);
      await admin.config('SET', 'maxmemory', '0');
      await one.untilShared();
    } finally {
      await admin.config('SET', 'maxmemory', '0');
      admin.disconnect();
    }
  });

  it.each([
    ['a wrong password', () => `redis://:${PASSWORD}x@127.0.0.1:${server.port}`],
    ['no password', () => `redis://127.0.0.1:${server.port}`],
    ['a host that is none', () => `redis://:${PASSWORD}@host.invalid`],
    ['a cluster that is none', () => `${server.url},${server.url}`],
  ])('counts alone, and tells no secret, with %s', async (_, url) => {
    const one = instance(url());
    await one.store.ready();
    expect((await one.timed('misconfigured')).allowed).toBe(true);
    await pause(600);
    expect(one.states).toEqual([false]);
    expect(one.warnings).toHaveLength(1);
  });

  it.each(['#', '/', '?', '%zz'])(
    'refuses an address that a %s in the password breaks, and does not quote it',
    (sign) => {
      for (const url of [
        `redis://:${PASSWORD}${sign}@127.0.0.1`,
        `redis://a,rediss://:${PASSWORD}${sign}@b`,
      ]) {
        let seen = '';
        try {
          instance(url);
        } catch (error) {
          seen = inspect(error, { showHidden: true });
        }
        expect(seen).toContain('The address of Redis is none');
        expect(seen).not.toContain(PASSWORD);
      }
    },
  );

  it('takes a slow process of our own for no outage', async () => {
    const one = await startedInstance();
    const decision = one.timed('busy');
    // Long enough for Redis to answer, and for the time to run out, before anything here can look.
    await new Promise((resolve) => setImmediate(resolve));
    const end = performance.now() + 3 * ANSWER;
    while (performance.now() < end);
    await decision;
    expect(one.store.shared).toBe(true);
    expect(one.warnings).toEqual([]);
  });

  it('clears and gives back what was counted during an outage too', async () => {
    const one = await startedInstance();
    await server.kill();
    await one.untilShared(false);
    await one.store.consume('outage:key', 1, HOUR);
    await one.store.giveBack('outage:key', HOUR);
    expect((await one.timed('outage:key', 1)).allowed).toBe(true);
    await server.start();
    await one.untilShared();
    await one.store.clear('outage:key');
    await server.kill();
    await one.untilShared(false);
    expect((await one.timed('outage:key', 1)).allowed).toBe(true);
    await server.start();
  });

  it.each(['there', 'away', 'hanging'])('leaves nothing open when closed while Redis is %s', async (how) => {
    const one = await startedInstance();
    const url = how === 'away' ? `redis://127.0.0.1:${await freePort()}` : server.url;
    if (how === 'hanging') server.hang();
    try {
      const before = openHandles();
      const two = instance(url);
      if (how !== 'away') await two.timed('close:before');
      else await two.store.ready();
      const begun = performance.now();
      await two.store.close();
      await two.store.close();
      expect(performance.now() - begun).toBeLessThan(200 + TOLERANCE);
      expect((await two.timed('close:after')).allowed).toBe(true);
      await until('nothing is open', () => openHandles() <= before, 1_000);
    } finally {
      server.goOn();
    }
    await one.store.close();
  });
});

/** Sockets and timers that keep a process alive. */
function openHandles(): number {
  const kinds = ['TCPSocketWrap', 'TCPWrap', 'Timeout', 'GetAddrInfoReqWrap', 'TCPConnectWrap'];
  return process.getActiveResourcesInfo().filter((kind) => kinds.includes(kind)).length;
}
