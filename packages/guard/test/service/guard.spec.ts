import { connect, createServer, type Server, type Socket } from 'node:net';
import { ClientRequest } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { SERVICE_ACTOR } from '../../../../src/records/audit/audit.service.js';
import { ClientsService } from '../../../../src/access/clients/clients.service.js';
import { ConsentsService } from '../../../../src/access/consents/consents.service.js';
import type { UserEntity } from '../../../../src/access/users/accounts/user.entity.js';
import { UsersService } from '../../../../src/access/users/accounts/users.service.js';
import { holdClock, putClockForward } from '../../../../test/support/clock.js';
import type { TestClient } from '../../../../test/support/factory.js';
import { untilHourHasRoom } from '../../../../test/support/hours.js';
import { revoke } from '../../../../test/support/oauth.js';
import { freePort, type TestInstance, useSharedService } from '../../../../test/support/test-service.js';
import { newKey } from '../../../../test/support/client-keys.js';
import { boundToken, proofOf } from '../../../../test/support/dpop.js';
import { until } from '../../../../test/support/until.js';
import { RecentChanges } from '../../src/changes.js';
import { AccessGuard, AccessRefusal, type GuardOptions } from '../../src/index.js';
import { Sleep } from '../../src/sleep.js';
import { SERVERS, type GuardedServer } from './servers.js';

/** How often a consent ends while the guard asks: each time at another moment. */
const ENDINGS = process.env.NIGHTLY ? 30 : 4;

/** The guard beside the real service: it asks one instance, and everything is changed on another. */
const service = useSharedService({ instances: 2 });
let here: TestInstance;
let there: TestInstance;
let inspector: TestClient;
let client: TestClient;
let user: UserEntity;

beforeAll(async () => {
  [here, there] = service.instances as [TestInstance, TestInstance];
  inspector = await service.make.operatorClient(['token:introspect']);
});
beforeEach(async () => {
  client = await service.make.client();
  user = await service.make.user();
});

const optionsFor = (resource: string, url = there.url): GuardOptions => ({
  url,
  clientId: inspector.id,
  clientSecret: inspector.secret,
  resource,
  // The longest there is: it only ends a hang.
  timeoutMs: 60_000,
});
const userToken = async (scope?: string) => (await service.make.tokens(client, user, scope)).access_token;

describe('A data service that takes tokens bound to a key, beside the real service', () => {
  it('serves one with a proof of its key, once for each proof, and not as Bearer; its own token is bound, too', async () => {
    const start = SERVERS[0]![1];
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const { privateJwk: dpopKey } = await newKey();
    const server = await start({ ...optionsFor(`${url}/`, service.url), dpop: true, dpopKey }, port);
    try {
      const [key, other] = [await newKey(), await newKey()];
      const token = await boundToken(service.http, client, key);
      await service.make.consent(client, user);
      const address = `${url}/users/${user.id}/vehicles`;
      const get = async (authorization: string, dpop?: string) => {
        const headers: Record<string, string> = { authorization, ...(dpop === undefined ? {} : { dpop }) };
        const answer = await fetch(address, { headers });
        await answer.arrayBuffer();
        return answer.status;
      };
      const proof = await proofOf(key, 'GET', address, {}, token);
      expect(await get(`DPoP ${token}`, proof)).toBe(200);
      expect(await get(`DPoP ${token}`, proof)).toBe(401);
      expect(await get(`DPoP ${token}`, await proofOf(other, 'GET', address, {}, token))).toBe(401);
      expect(await get(`Bearer ${token}`)).toBe(401);
    } finally {
      await server.stop();
    }
  });
});

describe.each(SERVERS)('A data service on %s', (_name, start) => {
  let server: GuardedServer;
  let url: string;

  beforeAll(async () => {
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    server = await start({ ...optionsFor(`${url}/`), scopesSupported: ['vehicle:read'] }, port);
  });
  afterAll(() => server.stop());

  const get = async (path: string, token?: string) => {
    const response = await fetch(url + path, {
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      json: JSON.parse(text) as Record<string, unknown>,
    };
  };
  const vehicles = (id: string) => `/users/${id}/vehicles`;

  it("serves a user's data to a token of the user, and to the client while the user consents", async () => {
    const token = await userToken();
    const answer = await get(vehicles(user.id), token);
    expect([answer.status, answer.json]).toEqual([
      200,
      expect.objectContaining({
        clientId: client.id,
        userId: user.id,
        scopes: expect.arrayContaining(['vehicle:read']),
      }),
    ]);
    const own = await service.make.clientToken(client);
    expect((await get(vehicles(user.id), own)).status).toBe(200);
    expect((await get('/me', own)).json).toMatchObject({ clientId: client.id });
  });

  it('reports what it served, which the user then sees by day', async () => {
    await untilHourHasRoom();
    const token = await userToken();
    for (let n = 0; n < 3; n++) expect((await get(vehicles(user.id), token)).status).toBe(200);
    const [someone, narrow] = [await service.make.user(), await userToken('charging_session:read')];
    for (const [id, refused] of [
      [someone.id, token],
      [user.id, narrow],
    ] as const)
      expect((await get(vehicles(id), refused)).status).toBe(403);
    const sums = () =>
      service.database.query(
        'SELECT client_id, scope, requests::int FROM disclosure_days WHERE user_id = ANY ($1)',
        [[user.id, someone.id]],
      );
    await until('nothing waits', () => server.guard.statistics.disclosures.waiting === 0);
    await until('it is counted', async () => (await sums()).length > 0);
    expect(await sums()).toEqual([{ client_id: client.id, scope: 'vehicle:read', requests: 3 }]);
    const page = await (await service.make.signedIn(user)).open(`/account/applications/${client.id}/history`);
    expect(page.text).toContain('“See your vehicles”: asked 3 times');
  });

  it('refuses everybody else, and names its metadata, which names the service', async () => {
    const [stranger, narrow, whole] = [
      await service.make.user(),
      await userToken('charging_session:read'),
      await userToken(),
    ];
    const answers = [
      await get(vehicles(user.id)),
      await get(vehicles(user.id), 'cds_at_nothing'),
      await get(vehicles(user.id), narrow),
      await get(vehicles(stranger.id), whole),
      await get(vehicles('nobody'), whole),
      await get(vehicles(stranger.id), await service.make.clientToken(client)),
      await get(`/me?access_token=${whole}`),
      // A route whose function finds no id.
      await get('/nobody', whole),
    ];
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 403, 403, 403, 403, 401, 403]);
    for (const { status, headers, json } of answers) {
      expect(json).toEqual({
        status,
        title: expect.any(String) as string,
        detail: expect.any(String) as string,
      });
      expect(headers.get('content-type')).toMatch(/^application\/problem\+json/);
      const [, metadataUrl] = /resource_metadata="([^"]+)"/.exec(headers.get('www-authenticate')!)!;
      expect(await fetch(metadataUrl!).then((response) => response.json())).toEqual({
        resource: url,
        authorization_servers: [there.url],
        bearer_methods_supported: ['header'],
        scopes_supported: ['vehicle:read'],
      });
    }
    expect(answers[2]!.headers.get('www-authenticate')).toContain(
      'error="insufficient_scope", scope="vehicle:read"',
    );
  });
});

describe('The guard', () => {
  let guard: AccessGuard;

  let heard: jest.SpyInstance<void, Parameters<RecentChanges['add']>>;

  beforeEach(async () => {
    heard = jest.spyOn(RecentChanges.prototype, 'add');
    // The feed is silent for as long as this process is held up: that is no silence of the service.
    jest.spyOn(ClientRequest.prototype, 'setTimeout').mockReturnThis();
    // Where a test holds the process's clock, the time of day goes on: that is no sleep of the machine.
    jest.spyOn(Sleep.prototype, 'wasJustNow').mockReturnValue(false);
    guard = new AccessGuard(optionsFor('https://data.example.com'));
    guard.start();
    await until('it follows the changes', () => guard.statistics.isFollowingChanges);
  });
  afterEach(async () => {
    await guard.close();
    jest.restoreAllMocks();
  });

  /** Waits until the guard has heard of everything until now: changes come in their order. */
  const hasHeardAll = async (): Promise<void> => {
    const someone = await service.make.user();
    await service.make.consent(client, someone);
    await here.app.get(ConsentsService).revoke(client.id, someone.id, SERVICE_ACTOR);
    await until('it has heard all', () => heard.mock.calls.some(([{ userId }]) => userId === someone.id));
  };
  const CHANGES: [what: string, change: (token: string) => Promise<unknown>][] = [
    ['the token is revoked', (token) => revoke(here.http, client, token)],
    [
      'the consent is withdrawn',
      () => here.app.get(ConsentsService).revoke(client.id, user.id, SERVICE_ACTOR),
    ],
    [
      'the consent no longer includes any of its scopes',
      async () => {
        await service.make.consent(client, user, []);
      },
    ],
    [
      'the client is disabled',
      () => here.app.get(ClientsService).update(client.id, { enabled: false }, SERVICE_ACTOR),
    ],
    ['the client is deleted', () => here.app.get(ClientsService).delete(client.id, SERVICE_ACTOR)],
    ['its tokens are revoked', () => here.app.get(ClientsService).revokeTokens(client.id, SERVICE_ACTOR)],
    [
      'the user is disabled',
      () => here.app.get(UsersService).update(user.id, { enabled: false }, SERVICE_ACTOR),
    ],
    ['the user is erased', () => here.app.get(UsersService).erase(user.id, SERVICE_ACTOR)],
  ];
  const isAllowed = async (token: string) =>
    ((await guard.scopesFor(token, user.id))?.scopes.length ?? 0) > 0;

  it.each(CHANGES)('remembers beyond a second, and refuses when %s', async (what, change) => {
    const tokens = [await userToken()];
    // Revoking a token says nothing of another, and a disabled user's consent remains.
    const isOfOne = what === 'the token is revoked' || what === 'the user is disabled';
    if (!isOfOne) tokens.push(await service.make.clientToken(client));
    await hasHeardAll();
    const goOn = holdClock();
    try {
      // What it asks for right after a change is not remembered.
      putClockForward(0.3);
      for (const token of tokens) expect(await isAllowed(token)).toBe(true);
      const { asked } = guard.statistics;
      putClockForward(1.1);
      for (const token of tokens) expect(await isAllowed(token)).toBe(true);
      expect(guard.statistics.asked).toBe(asked);
    } finally {
      goOn();
    }
    await change(tokens[0]!);
    for (const token of tokens) await until('it is refused', async () => !(await isAllowed(token)));
  });

  it("refuses a client's own token when its owner is disabled", async () => {
    const token = await service.make.clientToken(client);
    expect(await guard.scopesFor(token)).toBeDefined();
    await here.app.get(UsersService).update(client.ownerId, { enabled: false }, SERVICE_ACTOR);
    await until('it is refused', async () => (await guard.scopesFor(token)) === undefined);
  });

  it('allows again what a user consents to, within a second', async () => {
    const token = await service.make.clientToken(client);
    expect(await isAllowed(token)).toBe(false);
    await service.make.consent(client, user);
    await until('it is allowed', () => isAllowed(token));
  });

  it('never goes on allowing what ended while it asked', async () => {
    const token = await service.make.clientToken(client);
    for (let n = 0; n < ENDINGS; n++) {
      await service.make.consent(client, user);
      await until('it is allowed', () => isAllowed(token));
      let isOver = false;
      const asking = (async () => {
        while (!isOver) await Promise.all([isAllowed(token), pause((15 * n) / ENDINGS)]);
      })();
      await here.app.get(ConsentsService).revoke(client.id, user.id, SERVICE_ACTOR);
      isOver = true;
      await asking;
      await until('it is refused', async () => !(await isAllowed(token)));
    }
  });

  it('follows the changes again with another token when its own are revoked', async () => {
    await here.app.get(ClientsService).revokeTokens(inspector.id, SERVICE_ACTOR);
    await until('it was cut', () => !guard.statistics.isFollowingChanges);
    await until('it follows again', () => guard.statistics.isFollowingChanges);
  });
});

/** The way to an instance, which can be cut. */
class Way {
  private server: Server | undefined;
  private readonly sockets = new Set<Socket>();

  constructor(
    readonly port: number,
    private readonly target: string,
  ) {}

  async open(): Promise<void> {
    const server = createServer((near) => {
      const far = connect(Number(new URL(this.target).port), '127.0.0.1');
      for (const socket of [near, far]) {
        this.sockets.add(socket);
        socket.on('error', () => undefined).on('close', () => this.sockets.delete(socket));
      }
      near.pipe(far).pipe(near);
    });
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    this.server = server;
  }

  async cut(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server!.close(resolve));
  }
}

describe('While the service is away, the guard', () => {
  it('fails closed after a second at most, and recovers by itself', async () => {
    const way = new Way(await freePort(), there.url);
    const guard = new AccessGuard(optionsFor('https://data.example.com', `http://127.0.0.1:${way.port}`));
    const token = await userToken();
    const asked = () =>
      guard.scopesFor(token, user.id).then(
        (access) => access?.scopes.length,
        (error: unknown) => (error as AccessRefusal).status,
      );
    await way.open();
    try {
      expect(await asked()).toBe(2);
      await until('it follows the changes', () => guard.statistics.isFollowingChanges);
      await way.cut();
      await until('it is refused', async () => (await asked()) === 503);
      await way.open();
      await until('it is allowed', async () => (await asked()) === 2);
      await until('it follows again', () => guard.statistics.isFollowingChanges);
    } finally {
      await guard.close();
      await way.cut();
    }
  });
});
