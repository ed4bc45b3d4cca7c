import type { Settings } from '#platform/config/settings.js';
import { MailLimitsService } from '#access/rate-limits/sign-in/mail-limits.service.js';
import { SharedRateLimitStore } from '#access/rate-limits/store/shared-rate-limit-store.js';
import { HeldTimers } from '../support/held-timers.js';
import { describeWithRedis, RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';

const TO_ONE_ADDRESS = 5;
const FROM_ONE_NETWORK = 20;

describeWithRedis('own', 'Limits of mails on two instances that share Redis', () => {
  let redis: RedisServer;
  let stores: SharedRateLimitStore[];
  let instances: MailLimitsService[];
  let counter = 0;
  let email: string;

  // However long a busy machine takes to answer, Redis is there until it is killed.
  let patience: HeldTimers;

  beforeAll(async () => {
    patience = HeldTimers.hold(100, 100, 'with-timeout');
    redis = await RedisServer.start();
    const quiet = { log: () => undefined, warn: () => undefined };
    stores = [0, 1].map(() => new SharedRateLimitStore(redis.url, { logger: quiet }));
    instances = stores.map(
      (store) => new MailLimitsService(store, { mailsPerNetworkAddress: FROM_ONE_NETWORK } as Settings),
    );
  });
  beforeEach(async () => {
    await redis.startIfEnded();
    await untilShared(true);
    email = `driver${++counter}@mail.example`;
  });
  afterAll(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await redis.stop();
    patience.release();
  });

  const untilShared = (shared: boolean): Promise<void> =>
    until(`shared is ${shared} on both`, () => stores.every((store) => store.shared === shared));
  const redisEnds = async (): Promise<void> => {
    await redis.kill();
    await untilShared(false);
  };
  let networks = 0;
  const newNetwork = (): string => `198.51.100.${++networks}`;
  /** How many of 10 mails to the address an instance admits, each asked for from a network of its own. */
  const admittedTo = async (n: number): Promise<number> => {
    const answers = [];
    for (let tries = 0; tries < 2 * TO_ONE_ADDRESS; tries++)
      answers.push(await instances[n]!.admit(email, newNetwork()));
    return answers.filter(Boolean).length;
  };
  /** How many of 25 mails to different addresses an instance admits from one network. */
  const admittedFrom = async (n: number, network: string): Promise<number> => {
    const answers = [];
    for (let tries = 0; tries < FROM_ONE_NETWORK + 5; tries++)
      answers.push(await instances[n]!.admit(`${tries}.${n}.${email}`, network));
    return answers.filter(Boolean).length;
  };

  it('hold for both together', async () => {
    expect([await admittedTo(0), await admittedTo(1)]).toEqual([TO_ONE_ADDRESS, 0]);
    const network = newNetwork();
    expect([await admittedFrom(0, network), await admittedFrom(1, network)]).toEqual([FROM_ONE_NETWORK, 0]);
  });

  it('hold for each of them while Redis is down', async () => {
    await redisEnds();
    expect([await admittedTo(0), await admittedTo(1)]).toEqual([TO_ONE_ADDRESS, TO_ONE_ADDRESS]);
    const network = newNetwork();
    expect([await admittedFrom(0, network), await admittedFrom(1, network)]).toEqual([
      FROM_ONE_NETWORK,
      FROM_ONE_NETWORK,
    ]);
  });

  it('hold for what logged-in users send as well while Redis is down, together with the rest', async () => {
    await redisEnds();
    const answers = [];
    for (let tries = 0; tries < TO_ONE_ADDRESS + 2; tries++) answers.push(await instances[0]!.admitTo(email));
    expect(answers.filter(Boolean)).toHaveLength(TO_ONE_ADDRESS);
    expect(await instances[0]!.admit(email, newNetwork())).toBe(false);
  });

  it('hold for both together again once Redis is back', async () => {
    await redisEnds();
    await redis.startIfEnded();
    await untilShared(true);
    expect([await admittedTo(0), await admittedTo(1)]).toEqual([TO_ONE_ADDRESS, 0]);
  });
});
