import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { DeliveryWorker } from '#events/webhooks/deliveries/delivery-worker.service.js';
import { BrowserSession, Http, TYPE, until, WEBHOOK_ENV } from '../support/spec.js';
import {
  Factory,
  newPkce,
  PASSWORD,
  REDIRECT_URI,
  type TestClient,
  type Tokens,
} from '../support/factory.js';
import { limitHeaders, retryAfterOf } from '../support/rate-limits.js';
import { Receiver } from '../support/receiver.js';
import { SpawnedService } from '../support/spawned-service.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { freePort, startInstance, TEST_ENCRYPTION_KEY, type TestInstance } from '../support/test-service.js';
import { endingIn } from '../support/tokens.js';

const HOUR = 3600;
const LIMIT = 8;
const PRELOADED = pathToFileURL(path.join(process.cwd(), 'test', 'support', 'stepping-clock.mjs')).href;

describe('a process whose clock is wrong, and steps,', () => {
  let database: TestDatabase;
  let service: SpawnedService;
  let maker: TestInstance;
  let receiver: Receiver;
  let http: Http;
  let make: Factory;

  beforeAll(async () => {
    // The first attempt of every delivery fails.
    const seen = new Set<unknown>();
    receiver = await Receiver.start((response, { headers }) => {
      const id = headers['webhook-id'];
      response.writeHead(seen.has(id) ? 204 : 500).end();
      seen.add(id);
    });
    database = await createTestDatabase();
    const port = await freePort();
    http = new Http(`http://127.0.0.1:${port}`);
    const env = {
      ...WEBHOOK_ENV,
      WEBHOOK_RETRY_SCHEDULE_SECONDS: '1,1',
      BASE_URL: http.url,
      // Shorter than any step, and longer than the time between the steps on a busy machine.
      AUTHORIZATION_CODE_TTL_SECONDS: '600',
      REFRESH_GRACE_SECONDS: '600',
    };
    maker = await startInstance(database, env);
    // The other process delivers everything.
    maker.app.get(DeliveryWorker).beforeApplicationShutdown();
    service = await new SpawnedService(
      {
        ...env,
        NODE_ENV: 'production',
        PORT: String(port),
        LOG_LEVEL: 'warn',
        ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
        DATABASE_URL: database.url,
        CLOCK_OFFSETS: [HOUR, -HOUR, 10 * 24 * HOUR, -10 * 24 * HOUR].join(),
      },
      { imports: [PRELOADED] },
    ).ready();
    make = new Factory({ ...maker, http, url: http.url });
  });
  afterAll(async () => {
    await SpawnedService.killAll();
    await maker.app.close();
    await receiver.stop();
    await database.drop();
  });

  async function step(seconds: number): Promise<void> {
    service.signal('SIGUSR2');
    await until('the clock has stepped', () => service.printed.includes(`The clock is off by ${seconds} s`));
  }
  const basicOf = ({ id, secret }: TestClient) => ({ id, secret });
  const refresh = (client: TestClient, token: string) =>
    http.token({ grant_type: 'refresh_token', refresh_token: token }, basicOf(client));

  /** What begins before a step and must still hold after it. */
  interface Begun {
    client: TestClient;
    limited: TestClient;
    limitedToken: string;
    operator: string;
    introspecting: TestClient;
    browser: BrowserSession;
    tokens: Tokens;
    successor: Tokens;
    code: string;
    verifier: string;
    link: string;
    event: object;
    eventId: string;
    key: string;
  }

  async function begin(): Promise<Begun> {
    const client = await make.client();
    const limited = await make.client({ rateLimit: LIMIT });
    const user = await make.user();
    await make.consent(client, user);
    const operator = await make.adminToken();
    const endpoint = { url: receiver.url('/hook'), event_types: [TYPE] };
    const endpoints = `/admin/clients/${client.id}/webhook_endpoints`;
    expect((await http.send(endpoints, { bearer: operator, json: endpoint })).status).toBe(201);
    const tokens = await make.tokens(client, user);
    const successor = (await refresh(client, tokens.refresh_token)).json as Tokens;
    const pkce = newPkce();
    const code = await make.code(client, user, { pkce });
    const browser = new BrowserSession(http.url);
    await browser.logIn(user.email, PASSWORD);
    const limitedToken = await make.clientToken(limited);
    const link = (await http.get('/webhook_portal', { bearer: await make.clientToken(client) })).json
      .url as string;
    for (let n = 1; n <= LIMIT / 2; n++)
      expect(limitHeaders(await http.get('/v2/users', { bearer: limitedToken }))).toEqual([LIMIT, LIMIT - n]);
    const event = { type: TYPE, user_id: user.id, timestamp: '2026-01-01T00:00:00Z', data: {} };
    const key = `key-of-${user.id}`;
    const headers = { 'idempotency-key': key };
    const published = await http.send('/v2/events', { bearer: operator, headers, json: event });
    expect(published.status).toBe(202);
    const introspecting = await make.operatorClient(['token:introspect']);
    const { verifier } = pkce;
    const eventId = published.json.id as string;
    return {
      client,
      limited,
      limitedToken,
      operator,
      introspecting,
      browser,
      tokens,
      successor,
      code,
      verifier,
      link,
      event,
      eventId,
      key,
    };
  }

  const introspect = async ({ introspecting }: Begun, token: string) =>
    (await http.send('/o/introspect/', { form: { token }, basic: basicOf(introspecting) })).json as {
      active: boolean;
      exp: number;
      iat: number;
    };

  async function expectAllHolds(begun: Begun): Promise<void> {
    const { client, tokens, successor } = begun;
    // Tokens live and expire by the database's clock.
    const now = Date.now() / 1000;
    const { active, exp, iat } = await introspect(begun, successor.access_token);
    expect([active, Math.abs(iat - now) < HOUR / 2, Math.abs(exp - iat - 36_000) < 2]).toEqual([
      true,
      true,
      true,
    ]);
    const token = await make.clientToken(client);
    const endsIn = async (seconds: number) =>
      (await http.get('/v2/users', { bearer: await endingIn({ database }, token, seconds) })).status;
    expect([await endsIn(60), await endsIn(-1)]).toEqual([200, 401]);
    // Within the grace time the retired refresh token still returns the same pair; a code issued a minute ago still works.
    expect((await refresh(client, tokens.refresh_token)).json).toMatchObject({
      access_token: successor.access_token,
      refresh_token: successor.refresh_token,
    });
    expect((await refresh(client, successor.refresh_token)).status).toBe(200);
    const code = {
      grant_type: 'authorization_code',
      code: begun.code,
      redirect_uri: REDIRECT_URI,
      code_verifier: begun.verifier,
    };
    expect((await http.token(code, basicOf(client))).status).toBe(200);
    // A signed-in user stays signed in, and others can sign in; the portal link still works.
    expect((await begun.browser.open('/account')).status).toBe(200);
    await make.signedIn(await make.user());
    expect((await new BrowserSession(http.url).open(new URL(begun.link).pathname)).status).toBe(200);
    await expectLimitGoesOn(begun);
    await expectEventGoesOn(begun);
  }

  /** The limit neither forgets counted requests nor refuses for longer than its window. */
  async function expectLimitGoesOn({ limitedToken }: Begun): Promise<void> {
    for (let n = LIMIT / 2 + 1; n <= LIMIT; n++)
      expect(limitHeaders(await http.get('/v2/users', { bearer: limitedToken }))).toEqual([LIMIT, LIMIT - n]);
    const refused = await http.get('/v2/users', { bearer: limitedToken });
    expect(refused.status).toBe(429);
    expect(retryAfterOf(refused)).toBeGreaterThan(HOUR / 2);
    expect(retryAfterOf(refused)).toBeLessThanOrEqual(HOUR);
  }

  /**
   * The same key still means the same event, which is delivered on the next attempt; its endpoint does not count as failing for
   * days.
   */
  async function expectEventGoesOn({ operator, event, eventId, key }: Begun): Promise<void> {
    const headers = { 'idempotency-key': key };
    const again = await http.send('/v2/events', { bearer: operator, headers, json: event });
    expect([again.status, again.json.id]).toEqual([202, eventId]);
    const next = await http.send('/v2/events', { bearer: operator, json: event });
    await until('all is delivered', async () => {
      return (await database.query("SELECT 1 FROM deliveries WHERE state = 'pending'")).length === 0;
    });
    const states = await database.query(
      'SELECT state, attempts FROM deliveries WHERE event_id IN ($1, $2) ORDER BY created_at',
      [eventId, next.json.id],
    );
    expect(states).toEqual([
      { state: 'delivered', attempts: 2 },
      { state: 'delivered', attempts: 2 },
    ]);
    const disabled = await database.query(
      'SELECT 1 FROM webhook_endpoints WHERE NOT enabled OR failing_since > now()',
    );
    expect(disabled).toEqual([]);
  }

  it.each([
    ['back by two hours', -HOUR],
    ['forward by ten days', 10 * 24 * HOUR],
    ['back by twenty days', -10 * 24 * HOUR],
  ])('keeps tokens, sessions, limits and events right when it steps %s', async (_, seconds) => {
    const begun = await begin();
    await step(seconds);
    await pause(50);
    await expectAllHolds(begun);
    expect(service.printed).not.toMatch(/"level":"(error|fatal)"/);
  });

  it('still stops in time', async () => expect(await service.stop()).toBe(0));
});
