import { Redis } from 'ioredis';
import type { Settings } from '#platform/config/settings.js';
import { AddressRefusals } from '#access/rate-limits/address-refusals.js';
import { SharedRateLimitStore, redisKey } from '#access/rate-limits/store/shared-rate-limit-store.js';
import { connectRedis } from '#access/rate-limits/store/redis-connection.js';
import { HeldTimers } from '../support/held-timers.js';
import { describeWithRedis, RedisServer } from '../support/redis-server.js';
import { allowedOf, HOUR, newKey } from '../support/rate-limit-store-suite.js';
import { until } from '../support/until.js';

const PASSWORD = 'only-for-tests-5c7e';
const SENTINEL_PASSWORD = 'only-for-sentinels-91ab';
const MASTER = 'rate-limits';
/** After how many milliseconds the servers consider another one dead. */
const DEAD_AFTER = '10000';

describeWithRedis('own', 'rate limits over several Redis servers', () => {
  const servers: RedisServer[] = [];
  const admins: Redis[] = [];
  const stores: SharedRateLimitStore[] = [];
  const announcements: AddressRefusals[] = [];
  const heard = new Set<string>();
  const lines: string[] = [];

  const start = async (password: string, options: string[], file = '') => {
    const server = await RedisServer.start({ password, options, file });
    servers.push(server);
    return server;
  };
  const adminOf = (server: RedisServer, password = PASSWORD) => {
    const admin = new Redis(server.port, '127.0.0.1', { password, retryStrategy: () => 100 });
    admin.on('error', () => undefined);
    admins.push(admin);
    return admin;
  };
  /** The shared counters of two instances of the service. */
  const twoInstances = async (url: string) => {
    const note = (line: string) => void lines.push(line);
    const two = [1, 2].map(() => new SharedRateLimitStore(url, { logger: { log: note, warn: note } }));
    stores.push(...two);
    announcements.push(...two.map((store) => new AddressRefusals(store, { redisUrl: url } as Settings)));
    for (const [n, each] of announcements.slice(-2).entries())
      each.listen(({ key }) => heard.add(`${n} ${key}`));
    for (const store of two) await until('it shares its counters', () => store.shared);
    return two;
  };
  /** How many of 100 requests through both instances pass a limit of 30. */
  const passed = (two: SharedRateLimitStore[], key = newKey()) =>
    allowedOf(100, (n) => two[n % 2]!.consume(key, 30, HOUR));
  const shareAgain = async (two: SharedRateLimitStore[]) => {
    for (const store of two) await until('it shares its counters again', () => store.shared);
    expect(await passed(two)).toBe(30);
    await hearEachOther();
  };
  const hearEachOther = async () => {
    const pair = announcements.slice(-2);
    for (const [n, each] of pair.entries()) {
      const key = newKey();
      await until('the other hears of a refusal', () => {
        each.announce({ key, limit: 1, retryAfterMs: 1000 });
        return heard.has(`${1 - n} ${key}`);
      });
    }
  };

  // A server that is there is waited for, however long a busy machine takes to answer.
  let patience: HeldTimers;
  beforeAll(() => void (patience = HeldTimers.hold(100, 100, 'with-timeout')));
  afterAll(() => patience.release());
  afterEach(async () => {
    for (const each of announcements.splice(0)) each.onApplicationShutdown();
    for (const store of stores.splice(0)) await store.close();
    for (const admin of admins.splice(0)) admin.disconnect();
    await Promise.all(servers.splice(0).map((server) => server.stop()));
    expect(lines.splice(0).join('\n')).not.toMatch(/only-for/);
  });

  describe('with a master monitored by sentinels', () => {
    let master: RedisServer;
    let copy: RedisServer;
    let sentinels: RedisServer[];
    let url: string;
    let two: SharedRateLimitStore[];

    beforeEach(async () => {
      const options = ['--masterauth', PASSWORD];
      master = await start(PASSWORD, options);
      copy = await start(PASSWORD, [...options, '--replicaof', `127.0.0.1 ${master.port}`]);
      const admin = adminOf(copy);
      await until('the copy follows', async () => /master_link_status:up/.test(await admin.info()));
      const file = [
        `sentinel monitor ${MASTER} 127.0.0.1 ${master.port} 2`,
        `sentinel auth-pass ${MASTER} ${PASSWORD}`,
        `sentinel down-after-milliseconds ${MASTER} ${DEAD_AFTER}`,
        `sentinel failover-timeout ${MASTER} 3000`,
        `sentinel sentinel-pass ${SENTINEL_PASSWORD}`,
      ].join('\n');
      sentinels = [];
      for (let n = 0; n < 3; n++) sentinels.push(await start(SENTINEL_PASSWORD, ['--sentinel'], file));
      for (const sentinel of sentinels) {
        const admin = adminOf(sentinel, SENTINEL_PASSWORD);
        await until('the sentinels know one another and the copy', async () => {
          const facts = (await admin.call('SENTINEL', 'MASTER', MASTER)) as string[];
          const fact = (name: string) => facts[facts.indexOf(name) + 1];
          return fact('num-other-sentinels') === '2' && fact('num-slaves') === '1';
        });
      }
      const hosts = sentinels.map(({ port }) => `127.0.0.1:${port}`).join();
      url = `redis+sentinel://:${PASSWORD}@${hosts}/${MASTER}?sentinel_password=${SENTINEL_PASSWORD}`;
      two = await twoInstances(url);
    });

    it('continue on the replica when the master is killed, and find it through the remaining sentinels', async () => {
      expect(await passed(two)).toBe(30);
      await hearEachOther();
      expect(await adminOf(master).dbsize()).toBeGreaterThan(0);
      await master.kill();
      for (const store of two) await until('it counts for itself', () => !store.shared);
      // Each announces it at a moment of its own, upon which the connections are made anew.
      for (const sentinel of sentinels) {
        const admin = adminOf(sentinel, SENTINEL_PASSWORD);
        await until('the sentinel names the new master', async () => {
          const address = await admin.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', MASTER);
          return (address as string[])[1] === String(copy.port);
        });
      }
      await shareAgain(two);
      expect(await adminOf(copy).role()).toContain('master');

      await sentinels[0]!.kill();
      for (const store of stores.splice(0)) await store.close();
      expect(await passed(await twoInstances(url))).toBe(30);
    });

    it('start over when a failover is announced just while they ask the sentinels for the master', async () => {
      const connection = connectRedis(url);
      const states: string[] = [];
      for (const state of ['ready', 'end']) connection.on(state, () => states.push(state));
      connection.on('error', () => undefined);
      await until('it is connected', () => states.includes('ready'));
      // What the library does on such an announcement.
      connection.once('connecting', () => connection.disconnect(true));
      connection.disconnect(true);
      await until('it is connected again', () => states.join() === 'ready,end,ready');
      connection.disconnect();
      await until('it has ended', () => states.join() === 'ready,end,ready,end');
    });

    it('continue on the new master when the old one is demoted to a replica but still answers', async () => {
      await adminOf(sentinels[0]!, SENTINEL_PASSWORD).call('SENTINEL', 'FAILOVER', MASTER);
      const both = [master, copy].map((server) => adminOf(server));
      await until('the two have changed places', async () => {
        const roles = await Promise.all(both.map((admin) => admin.role()));
        return roles.map(([role]) => role).join() === 'slave,master';
      });
      const key = newKey();
      await until('the new master counts', async () => {
        for (const store of two) await store.consume(key, 1_000_000, HOUR);
        return (await both[1]!.keys('*')).some((each) => each.includes(key));
      });
      await shareAgain(two);
    });
  });

  it('continue in a cluster when a server is killed and its replica replaces it', async () => {
    const options = ['--cluster-enabled', 'yes', '--cluster-node-timeout', DEAD_AFTER];
    const nodes: RedisServer[] = [];
    for (let n = 0; n < 6; n++) nodes.push(await start(PASSWORD, [...options, '--masterauth', PASSWORD]));
    const nodeAdmins = nodes.map((node) => adminOf(node));
    const slots = ['0 5460', '5461 10922', '10923 16383'].map((range) => range.split(' '));
    for (const [n, range] of slots.entries()) await nodeAdmins[n]!.call('CLUSTER', 'ADDSLOTSRANGE', ...range);
    for (const { port } of nodes.slice(1)) await nodeAdmins[0]!.call('CLUSTER', 'MEET', '127.0.0.1', port);
    const knownTo = async (admin: Redis) =>
      ((await admin.call('CLUSTER', 'NODES')) as string)
        .trim()
        .split('\n')
        .filter((line) => line.includes('connected') && !line.includes('handshake'));
    for (const admin of nodeAdmins)
      await until('all know one another', async () => (await knownTo(admin)).length === 6);
    for (const [n, admin] of nodeAdmins.slice(3).entries())
      await admin.call('CLUSTER', 'REPLICATE', (await nodeAdmins[n]!.call('CLUSTER', 'MYID')) as string);
    for (const admin of nodeAdmins) {
      await until('the cluster serves, with a copy of each server', async () => {
        const copies = (await knownTo(admin)).filter((line) => line.includes('slave'));
        return copies.length === 3 && (await admin.cluster('INFO')).includes('cluster_state:ok');
      });
    }
    for (const admin of nodeAdmins.slice(3))
      await until('the copy follows', async () => /master_link_status:up/.test(await admin.info()));
    const two = await twoInstances(
      `redis+cluster://:${PASSWORD}@127.0.0.1:${nodes[0]!.port},127.0.0.1:${nodes[1]!.port}`,
    );
    // Enough keys to use every server.
    for (let n = 0; n < 12; n++) expect(await passed(two)).toBe(30);
    for (const admin of nodeAdmins.slice(0, 3)) expect(await admin.dbsize()).toBeGreaterThan(0);

    await hearEachOther();

    await nodes[0]!.kill();
    await until('its copy serves in its place', async () => {
      const [role] = await nodeAdmins[3]!.role();
      return role === 'master' && (await nodeAdmins[1]!.cluster('INFO')).includes('cluster_state:ok');
    });
    const keyOfTheKilled = async () => {
      for (;;) {
        const key = newKey();
        if (Number(await nodeAdmins[1]!.call('CLUSTER', 'KEYSLOT', redisKey(key))) <= 5460) return key;
      }
    };
    await until(
      'its keys are counted together',
      async () => (await passed(two, await keyOfTheKilled())) === 30,
    );
    await shareAgain(two);
    for (let n = 0; n < 12; n++) expect(await passed(two)).toBe(30);
  });
});
