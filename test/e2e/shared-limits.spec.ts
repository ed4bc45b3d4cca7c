import { Redis } from 'ioredis';
import { type Answer, BrowserSession, Http, type TestClient, until } from '../support/spec.js';
import { limitHeaders, statusesOf, tally } from '../support/rate-limits.js';
import { describeWithRedis, RedisServer } from '../support/redis-server.js';
import { SpawnedService } from '../support/spawned-service.js';
import { TEST_ENCRYPTION_KEY, freePort, useSharedService } from '../support/test-service.js';

const METRICS_TOKEN = 'only-for-the-scraper-0001';
const PASSWORD = 'only-for-tests-7c2e';
// The longest that a decision waits for Redis. On a busy machine this could be exceeded, so the timer is held until the test lets
// it end.
const PATIENCE = '100:with-timeout';

/** An instance in a process of its own, with its own log and metrics. */
interface Instance {
  service: SpawnedService;
  http: Http;
}

describeWithRedis('own', 'Two instances that share Redis', () => {
  let redis: RedisServer;
  /** Creates users, clients and tokens in the same database. */
  const office = useSharedService();
  let instances: Instance[];
  let admin: string;
  let client: TestClient;
  let bearer: string;
  let ofDriver: string;

  beforeAll(async () => {
    redis = await RedisServer.start({ password: PASSWORD });
    instances = await Promise.all([startProcess(), startProcess()]);
    admin = await office.make.adminToken();
  });
  beforeEach(async () => {
    await redis.startIfEnded();
    await untilShared(1);
    client = await office.make.client();
    bearer = await office.make.clientToken(client);
    ofDriver = (await office.make.tokens(client, await office.make.user())).access_token;
  });
  afterAll(async () => {
    await SpawnedService.killAll();
    await redis.stop();
  });

  const startProcess = async (): Promise<Instance> => {
    const port = await freePort();
    const environment = {
      NODE_ENV: 'test',
      PORT: String(port),
      BASE_URL: `http://127.0.0.1:${port}`,
      DATABASE_URL: office.database.url,
      DATABASE_POOL_SIZE: '10',
      ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
      REDIS_URL: redis.url,
      METRICS_TOKEN,
      // Redis's own clock counts the minute: so few that a busy machine sends them within it.
      OAUTH_RATE_LIMIT_PER_MINUTE: '3',
      TRUSTED_PROXIES: '127.0.0.1',
    };
    const service = await new SpawnedService(environment, { heldTimers: [PATIENCE] }).ready();
    return { service, http: new Http(`http://127.0.0.1:${port}`) };
  };
  const ask = (n = 0, token = bearer): Promise<Answer> =>
    instances[n % 2]!.http.get('/v2/users', { bearer: token });
  const limitOf = ({ id }: TestClient, rate_limit: number): Promise<Answer> =>
    office.http.send(`/admin/clients/${id}`, { method: 'PATCH', bearer: admin, json: { rate_limit } });
  /** Until both have read it: a token of the same client shows it, and counts for a user and not for the client. */
  const setLimit = async (rate_limit: number): Promise<void> => {
    await limitOf(client, rate_limit);
    await until('both have heard of it', async () => {
      const answers = await Promise.all([ask(0, ofDriver), ask(1, ofDriver)]);
      return answers.every((answer) => limitHeaders(answer)[0] === rate_limit);
    });
  };
  const metric = async (name: string, { http }: Instance): Promise<number> => {
    const { text } = await http.get('/metrics', { bearer: METRICS_TOKEN });
    return Number(
      text
        .split('\n')
        .find((each) => each.startsWith(`${name} `))
        ?.split(' ')[1] ?? 0,
    );
  };
  const sharedMetrics = (): Promise<number[]> =>
    Promise.all(instances.map((instance) => metric('rate_limit_store_shared', instance)));
  const untilShared = (value: number): Promise<void> =>
    until(`the metric of both is ${value}`, async () =>
      (await sharedMetrics()).every((each) => each === value),
    );
  /** Returns a function that returns the warnings of each instance about Redis since now. */
  const warnings = (): (() => string[][]) => {
    const marks = instances.map(({ service }) => service.printed.length);
    return () =>
      instances.map(({ service }, n) =>
        service.printed
          .slice(marks[n])
          .split('\n')
          .filter((line) => line.includes('Redis') && line.includes('"warn"')),
      );
  };

  it('let exactly 20 of 80 concurrent requests through, both together', async () => {
    await setLimit(20);
    expect(await tally(Array.from({ length: 80 }, (_, n) => ask(n)))).toEqual({ 200: 20, 429: 60 });
  });

  it('count sequential requests together', async () => {
    await setLimit(4);
    const answers = [await ask(0), await ask(1), await ask(0), await ask(1), await ask(0), await ask(1)];
    expect(answers.map((answer) => [answer.status, ...limitHeaders(answer)])).toEqual([
      ...[3, 2, 1, 0].map((remaining) => [200, 4, remaining]),
      [429, 4, 0],
      [429, 4, 0],
    ]);
  });

  it('apply a raised limit immediately, after both refused', async () => {
    await setLimit(1);
    expect([await ask(0), await ask(0), await ask(1)].map(({ status }) => status)).toEqual([200, 429, 429]);
    await setLimit(3);
    expect([await ask(1), await ask(0), await ask(1)].map(({ status }) => status)).toEqual([200, 200, 429]);
  });

  it('share the limit of /o/* and the limit of an address', async () => {
    const send = (n: number, secret: string): Promise<Answer> =>
      instances[n % 2]!.http.send('/o/token', {
        form: { grant_type: 'client_credentials' },
        basic: { id: client.id, secret },
        headers: { 'x-forwarded-for': '203.0.113.99' },
      });
    const right = Array.from({ length: 6 }, (_, n) => send(n, client.secret));
    expect(await tally(right)).toEqual({ 200: 3, 429: 3 });
    const wrong = Array.from({ length: 40 }, (_, n) => send(n, 'x'.repeat(40)));
    expect(await tally(wrong)).toEqual({ 401: 30, 429: 10 });
  });

  it('tell each other which address is over its limit, so that no credentials from there are checked anywhere', async () => {
    const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
    const guess = () =>
      instances[0]!.http.send('/o/token', {
        form: { grant_type: 'client_credentials' },
        basic: { id: client.id, secret: 'x'.repeat(40) },
        ...from('203.0.113.98'),
      });
    const introspect = (address: string) =>
      instances[1]!.http.send('/o/introspect', { form: { token: bearer }, bearer: admin, ...from(address) });
    expect((await introspect('203.0.113.98')).status).toBe(200);
    expect(await tally(Array.from({ length: 32 }, guess))).toEqual({ 401: 30, 429: 2 });
    // A valid introspection is never counted, so only the other instance can be the reason.
    await until('the second instance refuses the address', async () => {
      const { status, headers } = await introspect('203.0.113.98');
      return status === 429 && Number(headers.get('retry-after')) <= 60;
    });
    expect((await introspect('203.0.113.97')).status).toBe(200);
  });

  it('show the same notification', async () => {
    await setLimit(1);
    await ask(0);
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => ask(n)));
    expect(new Set(answers.map(({ json }) => json.notification.id as string)).size).toBe(1);
  });

  it('use their own counters when Redis fails under load, log that once each, and return to Redis by themselves', async () => {
    await setLimit(1_000_000);
    const said = warnings();
    let dead = false;
    const answers: { status: number; late: boolean; instance: number }[] = [];
    // Until each instance has answered enough afterwards, however long Redis takes to end.
    const isEnough = () =>
      [0, 1].every((n) => answers.filter(({ late, instance }) => late && instance === n).length > 25);
    const load = Array.from({ length: 8 }, async (_, n) => {
      for (let sent = 0; sent < 30 || !isEnough(); sent++) {
        const late = dead;
        const { status } = await ask(n);
        answers.push({ status, late, instance: n % 2 });
        if (n === 0 && sent === 10) {
          await redis.kill();
          dead = true;
        }
      }
    });
    await Promise.all(load);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(answers.filter(({ late }) => late).length).toBeGreaterThan(20);
    expect(said().map((lines) => lines.length)).toEqual([1, 1]);
    expect(said().join('')).not.toContain(PASSWORD);
    expect(await sharedMetrics()).toEqual([0, 0]);
    await redis.start();
    await untilShared(1);
    await setLimit(10);
    const fresh = await office.make.clientToken(client);
    const counted = await tally(Array.from({ length: 40 }, (_, n) => ask(n, fresh)));
    expect([counted, said().map((lines) => lines.slice(1))]).toEqual([{ 200: 10, 429: 30 }, [[], []]]);
  });

  it('each enforce the limit while Redis is unavailable', async () => {
    await redis.kill();
    await setLimit(5);
    expect(await statusesOf(7, () => ask(0))).toEqual([200, 200, 200, 200, 200, 429, 429]);
    expect(await statusesOf(7, () => ask(1))).toEqual([200, 200, 200, 200, 200, 429, 429]);
  });

  it('wait for a hanging Redis only for the promised time, and then not at all', async () => {
    const said = warnings();
    redis.hang();
    try {
      let answered = 0;
      const first = instances.map((_, n) => ask(n).finally(() => answered++));
      await until('the time that was promised is enough', () => {
        for (const { service } of instances) service.letTimersPass();
        return answered === first.length;
      });
      expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200]);
      // From now on requests do not wait.
      for (let n = 0; n < 6; n++) expect((await ask(n)).status).toBe(200);
      expect(said().map((lines) => lines.length)).toEqual([1, 1]);
    } finally {
      redis.goOn();
    }
  });

  it('count their decisions in the metrics, including refusals in a flood', async () => {
    const decided = (): Promise<number[]> =>
      Promise.all(
        ['allowed', 'refused'].map((result) =>
          metric(`rate_limit_decisions_total{kind="partner",result="${result}"}`, instances[0]!),
        ),
      );
    await setLimit(2);
    const before = await decided();
    expect(await tally(Array.from({ length: 22 }, () => ask(0)))).toEqual({ 200: 2, 429: 20 });
    expect(await decided()).toEqual([before[0]! + 2, before[1]! + 20]);
  });

  it('store nothing permanently in Redis, and no email address or token', async () => {
    const user = await office.make.user({ email: 'very.private@secretive.example' });
    const url = instances[0]!.http.url;
    for (const password of ['wrong horse battery staple', 'correct horse battery staple']) {
      const browser = new BrowserSession(url);
      await browser.fillIn('/login', { email: user.email, password });
    }
    const browser = new BrowserSession(url);
    await browser.fillIn('/login', { email: user.email, password: 'wrong' });
    await ask();
    const connection = new Redis(redis.url);
    try {
      const keys = await connection.keys('*');
      expect(keys.length).toBeGreaterThan(3);
      expect(keys.filter((key) => /private|secretive|@|cds_/.test(key))).toEqual([]);
      for (const key of keys) {
        const left = await connection.pttl(key);
        // -1: kept for ever. -2: over since the keys were listed.
        const isTemporary = left === -2 || (left >= 0 && left <= 2 * 3_600_000);
        expect([key, isTemporary]).toEqual([key, true]);
      }
    } finally {
      connection.disconnect();
    }
  });
});
