import { setTimeout as pause } from 'node:timers/promises';
import { inspect } from 'node:util';
import { Redis } from 'ioredis';
import { SharedRateLimitStore } from '#access/rate-limits/store/shared-rate-limit-store.js';
import { holdClock, putClockForward } from '../support/clock.js';
import { freePort } from '../support/free-port.js';
import { HeldTimers, turns } from '../support/held-timers.js';
import { describeWithRedis, RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';

const HOUR = 3_600_000;
const PASSWORD = 'only-for-tests-8d1f';
/** How long a decision waits for Redis, in milliseconds. */
const ANSWER = 100;
// More than the length of any promise chain here.
const MICROTASKS = 100;
const TRIES = 3;

/** The counters of one instance of the service, and its log lines. */
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

  async allows(key: string, limit = 1_000): Promise<boolean> {
    return (await this.store.consume(key, limit, HOUR)).allowed;
  }

  /** Makes one decision; throws if it waits for a timer or a socket. */
  async allowsAtOnce(key: string, limit?: number): Promise<boolean> {
    let decided: boolean | undefined;
    void this.allows(key, limit).then((allowed) => (decided = allowed));
    await new Promise((resolve) => process.nextTick(resolve));
    await Promise.resolve();
    for (let n = 0; n < MICROTASKS && decided === undefined; n++) await Promise.resolve();
    if (decided === undefined) throw new Error('the decision waits for something');
    return decided;
  }

  untilShared(shared = true): Promise<void> {
    return until(`shared is ${shared}`, () => this.store.shared === shared);
  }
}

describeWithRedis('own', 'SharedRateLimitStore', () => {
  let server: RedisServer;
  let instances: Instance[];
  /** A decision waits for Redis until the test says that the limit is over. */
  let patience: HeldTimers;
  const unhandled: unknown[] = [];
  const noteUnhandled = (error: unknown) => void unhandled.push(error);

  beforeAll(async () => {
    process.on('unhandledRejection', noteUnhandled);
    server = await RedisServer.start({ password: PASSWORD });
  });

  beforeEach(async () => {
    instances = [];
    patience = HeldTimers.hold(ANSWER, ANSWER, 'with-timeout');
    await server.startIfEnded();
  });

  afterEach(async () => {
    for (const { store } of instances) await store.close();
    patience.release();
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

  /** One that has shared its counters since its start; on a busy machine the first answers may take longer than a start waits. */
  async function startedInstance(): Promise<Instance> {
    let created = instance();
    await until('one shares its counters from its start', async () => {
      await created.store.ready();
      if (created.store.shared) return true;
      await created.store.close();
      created = instance();
      return false;
    });
    return created;
  }

  /** Those that cannot share their counters, and know why before they have waited for so long that they say it without a reason. */
  async function refusedInstances(...urls: string[]): Promise<Instance[]> {
    const goOn = holdClock();
    const refused = urls.map(instance);
    await until('they know why', () => refused.every(({ store }) => store['connectionError'] !== undefined));
    putClockForward(1.5);
    goOn();
    await Promise.all(refused.map(({ store }) => store.ready()));
    return refused;
  }

  it('decides within 100 ms when Redis is killed, logs that once, and reconnects on its own', async () => {
    const one = await startedInstance();
    await one.allows('kill:before');
    // The decisions must not wait for this limit, which never expires here.
    const limit = HeldTimers.hold(ANSWER);
    try {
      const during = Array.from({ length: 100 }, () => one.allows('kill:during', 50));
      await server.kill();
      await Promise.all(during);
      await one.untilShared(false);
    } finally {
      limit.release();
    }
    for (let n = 0; n < 20; n++) expect(await one.allowsAtOnce('kill:away', 10)).toBe(n < 10);
    expect(one.warnings).toHaveLength(1);
    await server.start();
    await one.untilShared();
    expect(one.warnings).toHaveLength(1);
    expect(one.infos).toHaveLength(2);
    expect(one.states).toEqual([true, false, true]);
  });

  it('decides within 100 ms when Redis hangs, and later requests do not wait at all', async () => {
    const one = await startedInstance();
    const limit = HeldTimers.hold(ANSWER);
    server.hang();
    try {
      let decided = 0;
      const first = Array.from({ length: 100 }, () => one.allows('hang:first', 50).finally(() => decided++));
      await turns();
      expect([decided, limit.count, one.warnings]).toEqual([0, 100, []]);
      limit.letPass();
      expect((await Promise.all(first)).filter((allowed) => allowed)).toHaveLength(50);
      for (let n = 0; n < 1_000; n++) expect(await one.allowsAtOnce('hang:later')).toBe(n < 1_000);
      expect(one.warnings).toHaveLength(1);
      expect(one.warnings[0]).toContain('no answer within 100 ms');
    } finally {
      limit.release();
      server.goOn();
    }
    await one.untilShared();
    expect(one.warnings).toHaveLength(1);
    expect(one.states).toEqual([true, false, true]);
  });

  it('reconnects after Redis hung for so long that the connection was given up', async () => {
    const one = await startedInstance();
    const given = givenUp(one);
    server.hang();
    try {
      const first = one.allows('long:first');
      await until('it waits for an answer', () => patience.count === 1);
      patience.letPass();
      await first;
      // The connection in use and its replacement, which Redis does not answer either.
      await until('the connection was given up twice', async () => {
        await one.allowsAtOnce('long:later', 1_000_000);
        return given() >= 2;
      });
    } finally {
      server.goOn();
    }
    await one.untilShared();
    expect(one.warnings).toHaveLength(1);
    expect(one.states).toEqual([true, false, true]);
  });

  it('shares counters between two instances, counts separately during an outage, and shares again', async () => {
    const both = [await startedInstance(), await startedInstance()];
    const passed = async (key: string) => {
      const calls = Array.from({ length: 200 }, (_, n) => both[n % 2]!.allows(key, 50));
      return (await Promise.all(calls)).filter((allowed) => allowed).length;
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

  it('starts while Redis is away, and shares counters once it is there', async () => {
    await server.kill();
    const one = instance();
    expect(await one.allowsAtOnce('start:first')).toBe(true);
    await one.store.ready();
    expect(one.states).toEqual([false]);
    expect(one.warnings).toEqual([expect.stringContaining('ECONNREFUSED')]);
    await server.start();
    await one.untilShared();
    expect(one.states).toEqual([false, true]);
    expect(one.infos).toHaveLength(1);
  });

  it('starts while Redis hangs', async () => {
    server.hang();
    try {
      const one = instance();
      expect(await one.allowsAtOnce('start:hanging')).toBe(true);
      await one.store.ready();
      expect(one.states).toEqual([false]);
    } finally {
      server.goOn();
    }
    await instances[0]!.untilShared();
  });

  it('counts alone, with one log line, while Redis answers but rejects writes', async () => {
    const one = await startedInstance();
    const admin = new Redis(server.url);
    try {
      await admin.config('SET', 'maxmemory', '1');
      await one.allows('full:key');
      await one.untilShared(false);
      // Redis answers each attempt with an error.
      const before = await refusedBy(admin);
      await until('it was tried again and again', async () => {
        await one.allowsAtOnce('full:key', 1_000_000);
        return (await refusedBy(admin)) >= before + TRIES;
      });
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
    ['a host that does not exist', () => `redis://:${PASSWORD}@host.invalid`],
    ['servers that are no cluster', () => `${server.url},${server.url}`],
  ])('counts alone, and reveals no secret, with %s', async (_, url) => {
    const [one] = (await refusedInstances(url())) as [Instance];
    expect(await one.allowsAtOnce('misconfigured')).toBe(true);
    await pause(600);
    expect(one.states).toEqual([false]);
    expect(one.warnings).toHaveLength(1);
  });

  it('logs once why a server rejects the user, also for a server that serves unknown users', async () => {
    const open = await RedisServer.start();
    try {
      const asStranger = open.url.replace('redis://', `redis://stranger:${PASSWORD}@`);
      const refused = await refusedInstances(asStranger, server.url.replace(PASSWORD, 'wrong'));
      // Enough time for many connection attempts.
      await until('it was tried again and again', async () => (await refusals(open)) > 5);
      for (const { warnings, infos, states } of refused) {
        expect(warnings).toEqual([expect.stringContaining('WRONGPASS: it rejected the user or password')]);
        expect([infos, states]).toEqual([[], [false]]);
      }
    } finally {
      await open.stop();
    }
  });

  it.each(['#', '/', '?', '%zz'])(
    'refuses an address in which a %s in the password breaks the URL, and does not quote it',
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
        expect(seen).toContain('REDIS_URL is not a valid address');
        expect(seen).not.toContain(PASSWORD);
      }
    },
  );

  it('does not mistake a slow process of its own for an outage', async () => {
    const one = await startedInstance();
    const decision = one.allows('busy');
    // Long enough for Redis to answer, and for the time limit to expire, before this process handles either.
    await new Promise((resolve) => setImmediate(resolve));
    const busy = new Int32Array(new SharedArrayBuffer(4));
    Atomics.wait(busy, 0, 0, 20 * ANSWER);
    await decision;
    expect(one.store.shared).toBe(true);
    expect(one.warnings).toEqual([]);
  });

  it('also clears and refunds what was counted during an outage', async () => {
    const one = await startedInstance();
    await server.kill();
    await one.untilShared(false);
    await one.store.consume('outage:key', 1, HOUR);
    await one.store.giveBack('outage:key', HOUR);
    expect(await one.allows('outage:key', 1)).toBe(true);
    await server.start();
    await one.untilShared();
    await one.store.clear('outage:key');
    await server.kill();
    await one.untilShared(false);
    expect(await one.allows('outage:key', 1)).toBe(true);
    await server.start();
  });

  it.each(['there', 'away', 'hanging'])(
    'leaves nothing open when it is closed while Redis is %s',
    async (how) => {
      const one = await startedInstance();
      const url = how === 'away' ? `redis://127.0.0.1:${await freePort()}` : server.url;
      if (how === 'hanging') server.hang();
      try {
        const before = openHandles();
        const two = instance(url);
        if (how !== 'away') await two.allows('close:before');
        else await two.store.ready();
        await two.store.close();
        await two.store.close();
        expect(await two.allowsAtOnce('close:after')).toBe(true);
        await until('nothing is open', () => openHandles() <= before);
      } finally {
        server.goOn();
      }
      await one.store.close();
    },
  );
});

/** How often the connection of an instance has been given up since this call. */
function givenUp({ store }: Instance): () => number {
  const { client } = store as unknown as { client: Redis };
  const disconnect = jest.spyOn(client, 'disconnect');
  return () => disconnect.mock.calls.length;
}

/** How often Redis has rejected a command since it started. */
async function refusedBy(admin: Redis): Promise<number> {
  return Number(/errorstat_OOM:count=(\d+)/.exec(await admin.info('errorstats'))?.[1] ?? 0);
}

/** The number of sockets and timers that keep the process alive. */
function openHandles(): number {
  const kinds = ['TCPSocketWrap', 'TCPWrap', 'Timeout', 'GetAddrInfoReqWrap', 'TCPConnectWrap'];
  return process.getActiveResourcesInfo().filter((kind) => kinds.includes(kind)).length;
}

/** How often a server rejected a user. */
async function refusals({ url }: RedisServer): Promise<number> {
  const redis = new Redis(url);
  try {
    const entries = (await redis.call('ACL', 'LOG')) as unknown[][];
    return entries.reduce((sum, entry) => sum + Number(entry[entry.indexOf('count') + 1]), 0);
  } finally {
    redis.disconnect();
  }
}
