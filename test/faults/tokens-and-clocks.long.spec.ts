import { execFile } from 'node:child_process';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { consentedCode } from '../support/codes.js';
import { Factory, PARTNER_SCOPES, type TestClient, type Tokens } from '../support/factory.js';
import { expectOAuthError, Http, isAccepted, refresh, until } from '../support/spec.js';
import { whileCut, whileFrozen } from '../support/listening-connections.js';
import { UNLIMITED } from '../support/load.js';
import { SpawnedService } from '../support/spawned-service.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { freePort, startInstance, TEST_ENCRYPTION_KEY, type TestInstance } from '../support/test-service.js';
import { judgeAt, TokenTraffic } from '../support/token-traffic.js';
import { accessRecordOf, endGrace, endingIn } from '../support/tokens.js';
import { heardEverywhere, TrackedTokens, type Judge } from '../support/tracked-tokens.js';

const PRELOADED = pathToFileURL(path.join(process.cwd(), 'test', 'support', 'stepping-clock.mjs')).href;
const HOUR = 3600;
// How many seconds each process is off, before and after its step. The differences exceed the lifetime of an access token.
const OFFSETS = [
  [6 * HOUR, -7 * HOUR],
  [-6 * HOUR, 7 * HOUR],
] as const;
const LATE_OFFSET = 30 * HOUR;
const TOOL_OFFSET = -30 * HOUR;
// How long the test observes a token before it expires.
const SECONDS_LEFT = 3;

/** Processes of the service on one database, none of which has the right time. */
describe('instances whose clocks are hours apart from each other and from the database', () => {
  let database: TestDatabase;
  let maker: TestInstance;
  let make: Factory;
  let services: SpawnedService[];
  let instances: Http[];
  let client: TestClient;
  let tracked: TrackedTokens;
  let traffic: TokenTraffic;
  let isSignedIn = false;
  const judges: Judge[] = [];

  beforeAll(async () => {
    database = await createTestDatabase();
    const ports = [await freePort(), await freePort()];
    instances = ports.map((port) => new Http(`http://127.0.0.1:${port}`));
    maker = await startInstance(database, UNLIMITED);
    services = [];
    judges.push(...instances.map(judgeAt));
    for (const [n, port] of ports.entries()) services.push(await start(port, OFFSETS[n]!));
    make = new Factory({ ...maker, http: instances[0]!, url: instances[0]!.url });
    client = await make.client();
    tracked = new TrackedTokens(judges);
    traffic = new TokenTraffic(client, await make.operatorClient(), instances, tracked, async () => {
      if (isSignedIn) {
        const { id: userId } = await make.user({ password: undefined });
        return { code: await consentedCode(maker, client.id, userId), userId };
      }
      // Once through the pages of an instance with a wrong clock: a password costs more than everything else here.
      isSignedIn = true;
      const user = await make.user();
      return { code: await make.code(client, user), userId: user.id };
    });
  });
  afterAll(async () => {
    await tracked?.stop();
    await SpawnedService.killAll();
    await maker.app.close();
    await database.drop();
  });

  const start = (port: number, offsets: readonly number[]): Promise<SpawnedService> =>
    new SpawnedService(
      {
        ...UNLIMITED,
        NODE_ENV: 'production',
        PORT: String(port),
        BASE_URL: instances[0]!.url,
        LOG_LEVEL: 'warn',
        DATABASE_URL: database.serviceUrl!,
        ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
        CLOCK_OFFSETS: offsets.join(),
      },
      { imports: [PRELOADED] },
    ).ready();

  /** Whether each instance accepts a token. */
  const seen = (token: string) => Promise.all(instances.map((http) => isAccepted(http, token)));
  const nowhere = () => instances.map(() => false);
  const everywhere = () => instances.map(() => true);

  async function endAll(): Promise<void> {
    await (
      await traffic.usersTokens()
    )();
    await traffic.endTokensOfClient();
    await tracked.expectAllRight();
  }

  it('refuse a token once it has ended, whichever instance ended it, and not before', endAll);

  it('refuse tokens in time while their listening connections are cut', async () => {
    const endUsersTokens = await traffic.usersTokens();
    await whileCut(database.url, async () => {
      await endUsersTokens();
      await traffic.endTokensOfClient();
    });
    await tracked.expectAllRight();
  });

  it('refuse tokens in time while their listening connections are frozen', async () => {
    const endUsersTokens = await traffic.usersTokens();
    await whileFrozen(database.url, instances.length + 1, async () => {
      await endUsersTokens();
      await traffic.endTokensOfClient();
    });
    await tracked.expectAllRight();
  });

  it('let a token expire by the database’s clock, and not before', async () => {
    const issued = [
      await make.clientToken(client),
      (await traffic.family()).tokens.access_token,
      (await traffic.family()).tokens.access_token,
    ];
    const expires = async (token: string) => {
      expect(await seen(await endingIn({ database }, token, -1))).toEqual(nowhere());
      const ending = await endingIn({ database }, token, SECONDS_LEFT);
      const { expiresAt } = await accessRecordOf({ database }, ending);
      /** Whether it has been expired for this many milliseconds by the database's clock. */
      const isOver = async (since: number) => {
        const [row] = await database.query<{ over: boolean }>(
          'SELECT to_timestamp(($1::float8 + $2) / 1000) <= clock_timestamp() AS over',
          [expiresAt, since],
        );
        return row!.over;
      };
      const refusedFirst = await Promise.all(
        instances.map(async (http) => {
          await until('it has ended', async () => !(await isAccepted(http, ending)));
          return isOver(0);
        }),
      );
      expect(refusedFirst).toEqual(everywhere());
      await until('every instance must know', () => isOver(100));
      expect(await seen(ending)).toEqual(nowhere());
    };
    await Promise.all(issued.map(expires));
  });

  it('agree on which retired refresh token may be repeated and which one ends its grant', async () => {
    for (const [n, http] of instances.entries()) {
      const other = instances[(n + 1) % instances.length]!;
      const { tokens, userId } = await traffic.family();
      const first = (await refresh(http, client, tokens.refresh_token)).json as Tokens;
      const again = (await refresh(other, client, tokens.refresh_token)).json as Tokens;
      const lifetimes = { expires_in: 0, refresh_token_expires_in: 0, authorization_expires_in: 0 };
      expect({ ...again, ...lifetimes }).toEqual({ ...first, ...lifetimes });
      await endGrace({ database }, tokens.refresh_token);
      await tracked.end(
        (each) => each.userId === userId,
        async () =>
          expectOAuthError(await refresh(other, client, tokens.refresh_token), 400, 'invalid_grant'),
      );
      await heardEverywhere();
      expect(await seen(first.access_token)).toEqual(nowhere());
      expectOAuthError(await refresh(http, client, first.refresh_token), 400, 'invalid_grant');
    }
  });

  it('issue tokens whose issue time and lifetime follow the database’s clock', async () => {
    const inspector = await make.operatorClient(['token:introspect']);
    const basic = { id: inspector.id, secret: inspector.secret };
    const { id, secret } = client;
    for (const http of instances) {
      const { json } = await http.token({ grant_type: 'client_credentials' }, { id, secret });
      const [row] = await database.query<{ now: number }>('SELECT extract(epoch FROM now())::float8 AS now');
      for (const at of instances) {
        const form = { token: json.access_token as string };
        const { active, iat, exp } = (await at.send('/o/introspect/', { form, basic })).json as {
          active: boolean;
          iat: number;
          exp: number;
        };
        expect([active, exp - iat, Math.abs(iat - row!.now) < HOUR]).toEqual([true, 36_000, true]);
      }
    }
  });

  it('follow a tool with yet another clock that rotates the key and revokes the previous one', async () => {
    const tool = async (...args: string[]) => {
      const env = {
        PATH: process.env.PATH,
        CLOCK_OFFSETS: String(TOOL_OFFSET),
        DATABASE_URL: database.url,
        ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
        BASE_URL: instances[0]!.url,
      };
      const all = [`--import=${PRELOADED}`, 'dist/src/operator.js', ...args];
      const { stdout } = await promisify(execFile)(process.execPath, all, { env });
      return JSON.parse(stdout) as unknown;
    };
    await traffic.issue();
    const family = await traffic.family();
    const signedByOld = new Set(tracked.live);
    const { keyId } = await accessRecordOf({ database }, family.tokens.access_token);
    await tool('rotate-token-key');
    // Until an instance has heard of the new key, it signs with the old one.
    await heardEverywhere();
    for (let n = 0; n < instances.length; n++) await traffic.issue();
    await traffic.refresh(family);
    await tracked.expectAllRight();
    await tracked.end(
      (each) => signedByOld.has(each),
      () => tool('revoke-token-key', String(keyId)),
    );
    await heardEverywhere();
    // The family continues: its newest tokens are signed with the new key.
    await traffic.refresh(family);
    await endAll();
  });

  it('work with another instance, with its own clock, that is started in the middle', async () => {
    const family = await traffic.family();
    const port = await freePort();
    services.push(await start(port, [LATE_OFFSET]));
    instances.push(new Http(`http://127.0.0.1:${port}`));
    judges.push(judgeAt(instances.at(-1)!));
    await traffic.refresh(family);
    await endAll();
  });

  it('continue when their clocks step in the middle', async () => {
    const { tokens, userId } = await traffic.family();
    const own = await make.clientToken(client);
    for (const [n, offsets] of OFFSETS.entries()) {
      services[n]!.signal('SIGUSR2');
      await until('the clock has stepped', () =>
        services[n]!.printed.includes(`The clock is off by ${offsets[1]} s`),
      );
    }
    expect(await seen(tokens.access_token)).toEqual(everywhere());
    expect(await seen(own)).toEqual(everywhere());
    const rotated = (await refresh(traffic.next(), client, tokens.refresh_token)).json as Tokens;
    const again = (await refresh(traffic.next(), client, tokens.refresh_token)).json as Tokens;
    expect(again.refresh_token).toBe(rotated.refresh_token);
    expect(again.scope.split(' ').sort()).toEqual(PARTNER_SCOPES);
    tracked.add(rotated.access_token, client.id, userId);
    await endAll();
  });

  it('log no error during all of this', () => {
    for (const { printed } of services) expect(printed).not.toMatch(/"level":"(error|fatal)"/);
    expect(tracked.looks).toBeGreaterThan(tracked.count);
  });
});
