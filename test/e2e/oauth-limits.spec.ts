import { madeForEach, PASSWORD, REDIRECT_URI, useService } from '../support/spec.js';
import { BrowserSession, authorizePath, type Page } from '../support/browser-session.js';
import { putClockForward } from '../support/clock.js';
import type { Answer, HttpOptions } from '../support/http.js';
import { credentialsOf, exchange, refresh, revoke } from '../support/oauth.js';
import {
  countFor,
  expectPlainRefusal,
  expectRetryAfter,
  from,
  newAddress,
  retryAfterOf,
  statusesOf,
  tally,
} from '../support/rate-limits.js';

const LIMIT = 4;
const ADDRESS_LIMIT = 10 * LIMIT;
const GRANT = { grant_type: 'client_credentials' };

describe('The rate limits of /o/* and the login', () => {
  const service = useService({
    env: { OAUTH_RATE_LIMIT_PER_MINUTE: String(LIMIT), TRUSTED_PROXIES: '127.0.0.1' },
  });
  const client = madeForEach(() => service.make.client());

  const token = (options: HttpOptions = {}, address = newAddress()): Promise<Answer> =>
    from(service.http, address)('/o/token', { form: GRANT, basic: client, ...options });
  const wrongSecret = (): HttpOptions => ({ basic: { id: client.id, secret: 'x'.repeat(40) } });

  describe('for a client', () => {
    it('refuse with a problem instead of an RFC 6749 error, and say when to try again', async () => {
      expect(await statusesOf(LIMIT, () => token())).toEqual(Array(LIMIT).fill(200));
      const answer = await token();
      expectPlainRefusal(answer, service.settings.baseUrl, 60);
      expect(answer.headers.get('cache-control')).toBe('no-store');
    });

    it('apply to all authentication methods and endpoints together', async () => {
      const inBody = { form: { ...GRANT, ...credentialsOf(client) }, basic: undefined };
      const { access_token } = (await token(inBody)).json as { access_token: string };
      expect((await revoke(service.http, client, access_token)).status).toBe(200);
      // The request is invalid, but the client was authenticated.
      expect((await exchange(service.http, client, 'garbage')).json.error).toBe('invalid_grant');
      expect((await refresh(service.http, client, 'garbage')).json.error).toBe('invalid_grant');
      const refused = [await token(), await token(inBody), await revoke(service.http, client, access_token)];
      expect(refused.map(({ status }) => status)).toEqual([429, 429, 429]);
    });

    it('let exactly the allowed number of many concurrent requests through', async () => {
      expect(await tally(Array.from({ length: 20 }, () => token()))).toEqual({ 200: LIMIT, 429: 20 - LIMIT });
    });

    it('leave other clients alone, even at the same address', async () => {
      const address = newAddress();
      await statusesOf(LIMIT + 1, () => token({}, address));
      expect((await token({ basic: await service.make.client() }, address)).status).toBe(200);
    });

    it('end when Retry-After says, not earlier', async () => {
      await statusesOf(LIMIT, () => token());
      const seconds = retryAfterOf(await token());
      expect(seconds).toBeGreaterThan(30);
      putClockForward(seconds - 20);
      expect((await token()).status).toBe(429);
      putClockForward(20);
      expect((await token()).status).toBe(200);
    });
  });

  describe('for an address', () => {
    it("count a stranger's failures with someone else's client_id, without using up that client's limit", async () => {
      const address = newAddress();
      const attempts: HttpOptions[] = [
        wrongSecret(),
        { basic: { id: client.id, secret: '' } },
        { basic: undefined, form: { ...GRANT, client_id: client.id, client_secret: 'guess' } },
        { basic: undefined, form: { ...GRANT, client_id: client.id } },
        { form: { ...GRANT, ...credentialsOf(client) } },
      ];
      await countFor(service, address, ADDRESS_LIMIT - 2 * attempts.length);
      for (const attempt of [...attempts, ...attempts])
        expect([400, 401]).toContain((await token(attempt, address)).status);
      expectPlainRefusal(await token(wrongSecret(), address), service.settings.baseUrl, 60);
      expect(await statusesOf(LIMIT, () => token())).toEqual(Array(LIMIT).fill(200));
    });

    it('affect every request from that address, even a right secret and introspection, but none from elsewhere', async () => {
      const operator = await service.make.operatorClient();
      const address = newAddress();
      await countFor(service, address, ADDRESS_LIMIT - 1);
      expect((await token(wrongSecret(), address)).status).toBe(401);
      expect((await token(wrongSecret(), address)).status).toBe(429);
      expectPlainRefusal(await token({}, address), service.settings.baseUrl, 60);
      const introspect = (at: string): Promise<Answer> =>
        from(service.http, at)('/o/introspect/', { basic: operator, form: { token: 'x' } });
      expectPlainRefusal(await introspect(address), service.settings.baseUrl, 60);
      expect((await introspect(newAddress())).json).toEqual({ active: false });
      expect((await token()).status).toBe(200);
    });

    it('count malformed requests and unknown clients', async () => {
      const address = newAddress();
      const broken: HttpOptions[] = [
        { json: GRANT, form: undefined },
        { form: ['a', 'b'].map((value): [string, string] => ['grant_type', value]) },
        { basic: { id: 'client', secret: 'secret' } },
        { basic: { id: `client:${client.id}`, secret: '' } },
        { basic: undefined, headers: { authorization: 'Basic !!!' } },
      ];
      await countFor(service, address, ADDRESS_LIMIT - broken.length);
      for (const each of broken) expect((await token(each, address)).status).not.toBe(429);
      expect((await token(wrongSecret(), address)).status).toBe(429);
    });

    it('count requests of a public client for the address, not for the client, because anybody can send its id', async () => {
      const app = await service.make.client({ type: 'public' });
      const [address, elsewhere] = [newAddress(), newAddress()];
      const form = { grant_type: 'refresh_token', client_id: app.id, refresh_token: 'x' };
      const attempt = (at: string) => (): Promise<Answer> => token({ basic: undefined, form }, at);
      await countFor(service, address, ADDRESS_LIMIT - 2 * LIMIT);
      expect(await statusesOf(2 * LIMIT, attempt(address))).toEqual(Array(2 * LIMIT).fill(400));
      expect((await attempt(address)()).status).toBe(429);
      expect((await attempt(elsewhere)()).status).toBe(400);
    });

    it('let exactly the allowed number of many concurrent failures through', async () => {
      const address = newAddress();
      const answers = Array.from({ length: ADDRESS_LIMIT + 20 }, () => token(wrongSecret(), address));
      expect(await tally(answers)).toEqual({ 401: ADDRESS_LIMIT, 429: 20 });
    });

    it.each(['/o/token', '/o/revoke_token/', '/o/introspect/'])('count failures at %s', async (path) => {
      const address = newAddress();
      const attempt = (): Promise<Answer> =>
        from(service.http, address)(path, { form: { token: 'x' }, ...wrongSecret() });
      await countFor(service, address, ADDRESS_LIMIT - 1);
      expect((await attempt()).status).toBe(401);
      expectPlainRefusal(await attempt(), service.settings.baseUrl, 60);
    });
  });

  it('do not count successful introspection, by credentials or by token', async () => {
    const operator = await service.make.operatorClient();
    const bearer = await service.make.clientToken(operator);
    const { access_token } = (await token()).json as { access_token: string };
    const address = newAddress();
    const introspect = (how: HttpOptions) => (): Promise<Answer> =>
      from(service.http, address)('/o/introspect/', { ...how, form: { token: access_token } });
    for (const how of [{ basic: operator }, { bearer }])
      expect(new Set(await statusesOf(ADDRESS_LIMIT + LIMIT, introspect(how)))).toEqual(new Set([200]));
    // Nor has it used up the operator client's own limit.
    expect(await statusesOf(LIMIT - 1, () => token({ basic: operator }))).toEqual(Array(LIMIT - 1).fill(200));
  });

  describe('are shown to a browser as a page', () => {
    const authorize = (): string =>
      authorizePath({ response_type: 'code', client_id: client.id, redirect_uri: REDIRECT_URI });
    const expectPage = (page: Page): void => {
      expect(page.status).toBe(429);
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(page.html.querySelector('h1')?.text).toMatch(/\S/);
      expectRetryAfter(page, 60);
      expect(page.headers.get('location')).toBeNull();
    };

    it('on the login, authorization and logout pages, whatever the method', async () => {
      const address = newAddress();
      const browser = new BrowserSession(service.url, { 'x-forwarded-for': address });
      await countFor(service, address, ADDRESS_LIMIT - 1);
      expect((await browser.open('/login')).status).toBe(200);
      for (const path of ['/login', authorize(), '/o/authorize/']) expectPage(await browser.open(path));
      for (const path of ['/login', '/logout', '/o/authorize/'])
        expectPage(await browser.open(path, { form: { email: 'x' }, headers: { origin: service.url } }));
    });

    it('even if authorization requests used the limit up, signed in or not', async () => {
      const user = await service.make.user();
      const address = newAddress();
      const browser = new BrowserSession(service.url, { 'x-forwarded-for': address });
      // Two requests.
      await browser.logIn(user.email, PASSWORD);
      await countFor(service, address, ADDRESS_LIMIT - 4);
      expect(await statusesOf(2, () => browser.open(authorize()))).toEqual([200, 200]);
      expectPage(await browser.open(authorize()));
      const elsewhere = new BrowserSession(service.url, { 'x-forwarded-for': newAddress() });
      expect((await elsewhere.open(authorize())).status).toBe(302);
    });
  });
});
