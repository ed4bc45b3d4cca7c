import { newSecret } from '#platform/secrets/tokens.js';
import { AccessTokensService } from '#access/tokens/access/access-tokens.service.js';
import { putClockForward } from '../support/clock.js';
import type { Answer, HttpOptions } from '../support/http.js';
import { madeForEach, madeOnce, PARTNER_SCOPES, useService } from '../support/spec.js';
import { countFor, from, limitHeaders, newAddress, statusesOf } from '../support/rate-limits.js';
import { statementsDuring } from '../support/statements.js';
import { connectionTo } from '../support/test-database.js';
import { strangeToken } from '../support/tokens.js';

const LIMIT = 1;
const ADDRESS_LIMIT = 10 * LIMIT;
const GRANT = { grant_type: 'client_credentials' };
const METRICS_TOKEN = 'only-for-the-scraper-0001';
const GUIDE = '/docs/guides/first-token';
const EVENT = { type: 'vehicle.created', user_id: 'x', timestamp: 'x', data: {} };

const service = useService({
  env: { OAUTH_RATE_LIMIT_PER_MINUTE: String(LIMIT), TRUSTED_PROXIES: '127.0.0.1', METRICS_TOKEN },
});
let bearer: string;
let admin: string;

const operator = madeOnce(() => service.make.operatorClient());
beforeAll(async () => (admin = await service.make.clientToken(operator)));
const client = madeOnce(() => service.make.client());
/** Not from the token endpoint, which counts. */
const tokenOf = async ({ id }: { id: string }): Promise<string> =>
  (await service.app.get(AccessTokensService).issueForClient(id, PARTNER_SCOPES))!.accessToken;
beforeAll(async () => (bearer = await tokenOf(client)));

type Request = [path: string, options: HttpOptions];

const send = (address: string, [path, options]: Request) => from(service.http, address)(path, options);
const cookie = (name: string, kind: 'session' | 'linkSession'): HttpOptions => ({
  headers: { cookie: `cds_${name}=${newSecret(kind)}` },
});
const wrong = (): HttpOptions => ({
  form: { ...GRANT, token: 'x' },
  basic: { id: client.id, secret: 'x'.repeat(40) },
});

/** Requests that are refused or have no session count for their address. */
const COUNTED: [what: string, request: () => Request, status: number][] = [
  ['no token at the admin API', () => ['/admin/users', {}], 401],
  ['an unknown token at the admin API', () => ['/admin/users', { bearer: strangeToken('access') }], 401],
  ["a partner's token at the admin API", () => ['/admin/users', { bearer }], 403],
  ['a malformed body at the admin API', () => ['/admin/users', { bearer: admin, json: {} }], 400],
  [
    'malformed JSON at the admin API',
    () => [
      '/admin/users',
      { bearer: admin, method: 'POST', body: '{', headers: { 'content-type': 'application/json' } },
    ],
    400,
  ],
  [
    'an unknown token at the events endpoint',
    () => ['/v2/events', { bearer: strangeToken('access'), json: EVENT }],
    401,
  ],
  ["a partner's token at the events endpoint", () => ['/v2/events', { bearer, json: EVENT }], 403],
  ['a malformed event', () => ['/v2/events', { bearer: admin, json: EVENT }], 400],
  [
    'introspection by a client without permission, by its secret',
    () => ['/o/introspect/', { form: { token: 'x' }, basic: client }],
    403,
  ],
  [
    'introspection by a client without permission, by its token',
    () => ['/o/introspect/', { form: { token: 'x' }, bearer }],
    403,
  ],
  ['introspection without the token parameter', () => ['/o/introspect/', { form: {}, basic: operator }], 400],
  ['a wrong secret', () => ['/o/token', wrong()], 401],
  ['the portal without a session', () => ['/portal', {}], 401],
  ['the portal with an unknown session', () => ['/portal', cookie('portal_session', 'linkSession')], 401],
  ['an unknown link to the portal', () => [`/portal/login/${newSecret('portalKey')}`, {}], 410],
  ['an unknown password link', () => [`/password/${newSecret('passwordKey')}`, {}], 410],
  ['the console without a session', () => ['/admin/console', cookie('session', 'session')], 302],
  ['the account page without a session', () => ['/account', cookie('session', 'session')], 302],
  ['the start page with an unknown session', () => ['/', cookie('session', 'session')], 200],
  ['a guide without a session', () => [GUIDE, {}], 200],
  ['a guide with an unknown session', () => [GUIDE, cookie('session', 'session')], 200],
  [
    'a guide with an unknown session of the portal',
    () => [GUIDE, cookie('portal_session', 'linkSession')],
    200,
  ],
  ['the metrics without their token', () => ['/metrics', {}], 401],
  ['an unknown address', () => ['/nothing', {}], 404],
  ['an unknown address with an unknown session', () => ['/nothing', cookie('session', 'session')], 404],
  ['a wrong method', () => ['/v2/users', { method: 'DELETE', bearer }], 405],
];

/** Requests that would normally cause a lookup, but are refused before it when their address is over its limit. */
const GATED: [what: string, request: () => Request][] = [
  ...COUNTED.map(([what, request]): [string, () => Request] => [what, request]),
  ['a right secret', () => ['/o/token', { form: GRANT, basic: client }]],
  [
    'a right secret in the body',
    () => ['/o/token', { form: { ...GRANT, client_id: client.id, client_secret: client.secret } }],
  ],
  ['a revocation by a right secret', () => ['/o/revoke_token/', { form: { token: bearer }, basic: client }]],
  ['an allowed introspection', () => ['/o/introspect/', { form: { token: bearer }, basic: operator }]],
  ['a valid token', () => ['/v2/users', { bearer }]],
  ['a valid token at the admin API', () => ['/admin/users', { bearer: admin }]],
  ['the metrics with their token', () => ['/metrics', { bearer: METRICS_TOKEN }]],
  ['the login page', () => ['/login', cookie('session', 'session')]],
  ['the authorization page', () => [`/o/authorize?client_id=${client.id}`, cookie('session', 'session')]],
];

describe('The limit of an address counts', () => {
  it.each(COUNTED)('%s', async (_what, request, status) => {
    const address = newAddress();
    await countFor(service, address, ADDRESS_LIMIT - 1);
    const statuses = await statusesOf(2, () => send(address, request()));
    expect([...statuses, (await send(newAddress(), request())).status]).toEqual([status, 429, status]);
  });

  it.each<[string, () => Request, number]>([
    ['the admin API', () => ['/admin/users', { bearer: admin }], 200],
    ['introspection', () => ['/o/introspect/', { form: { token: bearer }, basic: operator }], 200],
    ['the metrics', () => ['/metrics', { bearer: METRICS_TOKEN }], 200],
    ['an unknown user at the admin API', () => ['/admin/users/x', { bearer: admin }], 404],
  ])('no successful requests: %s', async (_what, request, status) => {
    const address = newAddress();
    const statuses = await statusesOf(ADDRESS_LIMIT + 5, () => send(address, request()));
    expect(statuses).toEqual(Array(ADDRESS_LIMIT + 5).fill(status));
  });
});

describe('From an address that is over its limit,', () => {
  const address = newAddress();
  beforeAll(() => countFor(service, address, ADDRESS_LIMIT));

  it.each(GATED)('%s is refused without a query', async (_what, request) => {
    const statements = await statementsDuring(service, async () =>
      expect((await send(address, request())).status).toBe(429),
    );
    expect(statements).toEqual([]);
  });

  it.each([
    '/portal',
    '/portal/login/x',
    '/password/x',
    '/admin/console',
    '/account',
    '/login',
    '/o/authorize',
    '/',
    GUIDE,
  ])('%s is answered with a page', async (path) => {
    const answer = await send(address, [path, { headers: { accept: 'text/html' } }]);
    expect(answer.status).toBe(429);
    expect(answer.headers.get('content-type')).toMatch(/^text\/html/);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(answer.headers.get('content-security-policy')).not.toBeNull();
  });

  it("a right secret is refused, and the client's own limit is not used up by those attempts", async () => {
    await statusesOf(5, () => send(address, ['/o/token', wrong()]));
    const right: Request = ['/o/token', { form: GRANT, basic: client }];
    expect(await statusesOf(5, () => send(address, right))).toEqual(Array(5).fill(429));
    expect(await statusesOf(LIMIT, () => send(newAddress(), right))).toEqual(Array(LIMIT).fill(200));
  });

  it('requests are served again after the time that Retry-After says', async () => {
    putClockForward(Number((await send(address, ['/v2/users', { bearer }])).headers.get('retry-after')));
    expect((await send(address, ['/v2/users', { bearer }])).status).toBe(200);
  });
});

describe('A partner over its own limit', () => {
  const partner = madeForEach(() => service.make.client());
  let own: string;
  beforeEach(async () => void (own = await tokenOf(partner)));
  const ask = (path = '/v2/users') => service.http.get(path, { bearer: own });
  const exhaustOwn = async () => {
    await service.http.send(`/admin/clients/${partner.id}`, {
      method: 'PATCH',
      bearer: admin,
      json: { rate_limit: 3 },
    });
    expect(await statusesOf(3, ask)).toEqual([200, 200, 200]);
    return ask();
  };

  it('is refused without a query, both in a flood and at intervals', async () => {
    const { notification } = (await exhaustOwn()).json as { notification: object };
    const answers: Answer[] = [];
    const statements = await statementsDuring(service, async () => {
      for (let n = 0; n < 20; n++) answers.push(await ask());
      // After this time nothing proves that the token is still live.
      for (let n = 0; n < 5; n++) {
        putClockForward(10);
        answers.push(await ask());
      }
    });
    expect(answers.map((answer) => [answer.status, ...limitHeaders(answer)])).toEqual(
      Array(25).fill([429, 3, 0]),
    );
    expect(
      answers.every(({ json }) => JSON.stringify(json.notification) === JSON.stringify(notification)),
    ).toBe(true);
    expect(statements).toEqual([]);
  });

  it('gets a 401 about a minute after the end of its token, even if the instance was not notified', async () => {
    await exhaustOwn();
    expect((await ask()).status).toBe(429);
    // There are no other requests in this time, so nothing is read from the database.
    putClockForward(61);
    expect((await ask()).status).toBe(429);
    const direct = await connectionTo(service);
    await direct.query('UPDATE clients SET token_epoch = token_epoch + 1 WHERE id = $1', [partner.id]);
    putClockForward(61);
    expect((await ask()).status).toBe(401);
  });

  it('gets a 401 as soon as its token is revoked', async () => {
    await exhaustOwn();
    expect((await ask()).status).toBe(429);
    await service.app.get(AccessTokensService).revoke(own, partner.id);
    expect((await ask()).status).toBe(401);
  });

  describe('can still read', () => {
    it('its notification, the list of notifications, and the resource in instance, with no remaining requests in the headers', async () => {
      const refused = await exhaustOwn();
      const { notification, instance } = refused.json as { notification: { url: string }; instance: string };
      const paths = [new URL(notification.url).pathname, '/notifications', new URL(instance).pathname];
      const answers = await Promise.all(paths.map(ask));
      expect(answers.map((answer) => [answer.status, ...limitHeaders(answer)])).toEqual(
        Array(3).fill([200, 3, 0]),
      );
      expect(answers.map(({ headers }) => headers.get('retry-after'))).toEqual([null, null, null]);
      expect(answers[0]!.json).toEqual(notification);
      expect(answers[2]!.json).toEqual({ id: partner.ownerId, url: instance, scopes: [] });
      expect((await ask()).status).toBe(429);
    });

    it('only these, and cannot mark them', async () => {
      const { json } = await exhaustOwn();
      const { pathname } = new URL((json.notification as { url: string }).url);
      const marked = await service.http.send(pathname, {
        method: 'PATCH',
        bearer: own,
        json: { read: true },
      });
      expect(marked.status).toBe(429);
      expect((await ask('/v2/users/user01HN2NJ9NMRZBXT1H6FT9N7735')).status).toBe(429);
      expect((await ask('/webhook_portal')).status).toBe(429);
    });

    it('as often as its limit allows, and no more', async () => {
      const first = await exhaustOwn();
      expect(await statusesOf(4, () => ask('/notifications'))).toEqual([200, 200, 200, 429]);
      const refused = await ask('/notifications');
      expect([refused.status, ...limitHeaders(refused)]).toEqual([429, 3, 0]);
      expect(refused.json).toMatchObject({ notification: first.json.notification as object });
      const statements = await statementsDuring(service, () => statusesOf(20, () => ask('/notifications')));
      expect(statements).toEqual([]);
      putClockForward(Number(refused.headers.get('retry-after')));
      expect((await ask('/notifications')).status).toBe(200);
    });

    it('nothing with a revoked token', async () => {
      await exhaustOwn();
      await service.app.get(AccessTokensService).revoke(own, partner.id);
      expect((await ask('/notifications')).status).toBe(401);
    });
  });

  it("can read its user's own resource with a user's token", async () => {
    const user = await service.make.user();
    own = (await service.make.tokens(partner, user)).access_token;
    expect((await exhaustOwn()).json.instance).toBe(`${service.settings.baseUrl}/v2/users/${user.id}`);
    expect((await ask(`/v2/users/${user.id}`)).json).toMatchObject({ id: user.id, email: user.email });
    expect((await ask(`/v2/users/${partner.ownerId}`)).status).toBe(429);
  });
});

describe('The owner of a client', () => {
  it('is shown to its client-credentials token, but not listed among the users who share data', async () => {
    const url = `${service.settings.baseUrl}/v2/users/${client.ownerId}`;
    const shown = await service.http.get(`/v2/users/${client.ownerId}`, { bearer });
    expect([shown.status, shown.json]).toEqual([200, { id: client.ownerId, url, scopes: [] }]);
    expect((await service.http.get('/v2/users', { bearer })).json).toEqual([]);
    const answer = await service.http.get(`/v2/users/${(await service.make.client()).ownerId}`, { bearer });
    expect(answer.status).toBe(404);
  });

  it('is shown with the consented scopes after giving consent', async () => {
    const owner = await service.make.user();
    const owned = await service.make.client({ ownerId: owner.id });
    await service.make.consent(owned, owner);
    const token = await service.make.clientToken(owned);
    const { json } = await service.http.get(`/v2/users/${owner.id}`, { bearer: token });
    expect(json).toMatchObject({ scopes: owned.scopes, consented_at: expect.any(String) as string });
  });

  it("is not shown to a user's token", async () => {
    const { access_token } = await service.make.tokens(client, await service.make.user());
    const answer = await service.http.get(`/v2/users/${client.ownerId}`, { bearer: access_token });
    expect(answer.status).toBe(404);
  });
});
