import { createHash, randomBytes } from 'node:crypto';
import { parse } from 'node-html-parser';
import { breakOff } from '../support/break-off.js';
import { BrowserSession, madeOnce, PASSWORD, placeOf, type TestClient } from '../support/spec.js';
import { freePort } from '../support/free-port.js';
import { PageProgram, PagePrograms } from '../support/page-programs.js';
import { startInstance, useSharedService } from '../support/test-service.js';
import { describeLibrary, newestGrantOf, settingsOf } from './libraries.js';

const service = useSharedService();

const user = madeOnce(() => service.make.user());

for (const slug of ['openid-client', 'oauth4webapi', 'simple-oauth2']) describeLibrary(service, slug, 'mjs');

describe('The applications on the pages about libraries for the web', () => {
  // Access tokens that are old at once: the applications refresh before each request.
  let browserThere: BrowserSession;
  const running: PageProgram[] = [];
  const pages: PagePrograms[] = [];
  const short = madeOnce(() => startInstance(service.database, { ACCESS_TOKEN_TTL_SECONDS: '60' }));
  beforeAll(async () => {
    browserThere = new BrowserSession(short.url);
    await browserThere.logIn(user.email, PASSWORD);
  });
  afterEach(async () => {
    for (const each of running.splice(0)) await each.kill();
    for (const each of pages.splice(0)) await each.remove();
  });
  afterAll(() => short.app.close());

  async function start(slug: string, file: string, of: TestClient, port: number): Promise<Visitor> {
    const programs = await PagePrograms.of(short.http, `/docs/libraries/${slug}`);
    pages.push(programs);
    const settings = { ...settingsOf(of), PORT: String(port), AUTH_SECRET: randomBytes(32).toString('hex') };
    const program = programs.start(file, settings);
    running.push(program);
    await program.firstLine();
    return new Visitor(`http://127.0.0.1:${port}`);
  }

  const authorize = async (address: string): Promise<URL> => {
    const url = new URL(address);
    expect(url.searchParams.get('code_challenge_method')).toBe('S256');
    return browserThere.authorize(Object.fromEntries(url.searchParams));
  };

  it.each(['confidential', 'public'] as const)(
    'passport-oauth2 connects a user as a %s client, refreshes, and asks again when the grant has ended',
    async (type) => {
      const redirectUris = ['http://127.0.0.1/callback'];
      const of = await service.make.client({
        ...(type === 'public' ? { type, grantTypes: ['authorization_code'] as const } : {}),
        redirectUris,
      } as Parameters<typeof service.make.client>[0]);
      const visitor = await start('passport-oauth2', 'app.mjs', of, await freePort());
      const cameTo = await authorize((await visitor.send('/login')).headers.get('location')!);
      const forged = new URL(cameTo);
      forged.searchParams.set('state', 'another');
      expect((await new Visitor(visitor.url).send(forged.pathname + forged.search)).status).toBe(403);
      expect(placeOf(await visitor.send(cameTo.pathname + cameTo.search))).toEqual([302, '/me']);
      expect(await (await visitor.send('/me')).json()).toMatchObject({ id: user.id });
      expect(await newestGrantOf(service, of)).toEqual({ generation: 1, revoked: false });
      await service.database.query(`UPDATE grants SET revoked_at = now() WHERE client_id = $1`, [of.id]);
      expect(placeOf(await visitor.send('/me'))).toEqual([302, '/login']);
    },
  );

  it('Auth.js outlives a request that breaks off, connects a user, refreshes, and says in the session when the grant has ended', async () => {
    const of = await service.make.client({ redirectUris: ['http://127.0.0.1/auth/callback/charging'] });
    const port = await freePort();
    const visitor = await start('auth-js', 'server.mjs', of, port);
    await breakOff(port, '/auth/signin/charging');
    const { csrfToken } = (await (await visitor.send('/auth/csrf')).json()) as { csrfToken: string };
    const signIn = await visitor.send('/auth/signin/charging', { csrfToken });
    const cameTo = await authorize(signIn.headers.get('location')!);
    const back = await visitor.send(cameTo.pathname + cameTo.search);
    if (/error/.test(back.headers.get('location')!)) throw new Error(running[0]!.err);
    const session = async () => (await visitor.send('/auth/session')).json();
    expect(await session()).toMatchObject({ user: { email: user.email }, charging_id: user.id });
    const { generation } = (await newestGrantOf(service, of))!;
    expect(generation).toBeGreaterThan(0);
    await service.database.query(`UPDATE grants SET revoked_at = now() WHERE client_id = $1`, [of.id]);
    expect(await session()).toMatchObject({ error: 'Disconnected' });
    // It does not ask again: that would be answered now.
    await service.database.query(`UPDATE grants SET revoked_at = NULL WHERE client_id = $1`, [of.id]);
    expect(await session()).toMatchObject({ error: 'Disconnected' });
  });

  it.each(['confidential', 'public'] as const)(
    'better-auth connects a user as a %s client, refreshes, and has no token when the grant has ended',
    async (type) => {
      const redirectUris = ['http://127.0.0.1/api/auth/callback/charging'];
      const of = await service.make.client({
        ...(type === 'public' ? { type, grantTypes: ['authorization_code'] as const } : {}),
        redirectUris,
      } as Parameters<typeof service.make.client>[0]);
      const visitor = await start('better-auth', 'server.mjs', of, await freePort());
      expect((await visitor.send('/')).status).toBe(401);
      const login = { provider: 'charging', callbackURL: '/' };
      const { url } = (await (await visitor.sendJson('/api/auth/sign-in/social', login)).json()) as {
        url: string;
      };
      const cameTo = await authorize(url);
      expect(placeOf(await visitor.send(cameTo.pathname + cameTo.search))).toEqual([302, '/']);
      expect(await (await visitor.send('/')).json()).toMatchObject({ id: user.id });
      const [account] = (await (await visitor.send('/api/auth/list-accounts')).json()) as { id: string }[];
      const refresh = () => visitor.sendJson('/api/auth/refresh-token', { accountId: account!.id });
      expect((await refresh()).status).toBe(200);
      expect(await (await visitor.send('/')).json()).toMatchObject({ id: user.id });
      expect(await newestGrantOf(service, of)).toEqual({ generation: 1, revoked: false });
      await service.database.query(`UPDATE grants SET revoked_at = now() WHERE client_id = $1`, [of.id]);
      expect((await refresh()).status).toBe(400);
    },
  );
});

/**
 * What programs send that do not run here, as their pages have it: parameters and their places are those of Home Assistant's
 * `config_entry_oauth2_flow` and of n8n's `@n8n/client-oauth2`.
 */
describe('The requests of programs that people configure', () => {
  const browser = madeOnce(() => service.make.signedIn(user));

  /** The addresses that a page gives, by the line that they stand in. */
  const addressesOn = async (slug: string): Promise<{ authorize: string; token: string }> => {
    const page = await service.http.get(`/docs/libraries/${slug}`);
    const { textContent } = parse(page.text, { blockTextElements: { script: false, style: false } });
    const [authorize] = /http\S+?\/o\/authorize\//.exec(textContent)!;
    const [token] = /http\S+?\/o\/token/.exec(textContent)!;
    return { authorize, token };
  };
  const codeFor = async (query: Record<string, string>): Promise<string> => {
    const cameTo = await browser.authorize(query);
    expect(cameTo.searchParams.get('state')).toBe(query.state);
    return cameTo.searchParams.get('code')!;
  };
  const pair = {
    access_token: expect.any(String),
    refresh_token: expect.any(String),
    expires_in: expect.any(Number),
  };

  it.each(['public', 'confidential'] as const)(
    'of Home Assistant connect a user with PKCE and refresh as a %s client',
    async (type) => {
      const redirectUri = 'https://my.home-assistant.io/redirect/oauth';
      const of = await service.make.client({ type, redirectUris: [redirectUri] });
      const { authorize, token } = await addressesOn('home-assistant');
      expect(authorize).toBe(`${service.settings.baseUrl}/o/authorize/`);
      const verifier = randomBytes(96).toString('base64url');
      const code = await codeFor({
        response_type: 'code',
        client_id: of.id,
        redirect_uri: redirectUri,
        // A JWT of Home Assistant's own.
        state: ['header', 'flow', 'signature']
          .map((part) => Buffer.from(part.repeat(20)).toString('base64url'))
          .join('.'),
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
        scope: 'charging_session:read vehicle:read',
      });
      const client = { client_id: of.id, ...(of.secret ? { client_secret: of.secret } : {}) };
      const send = (form: Record<string, string>) =>
        service.http.send(token, { form: { ...form, ...client } });
      const first = await send({
        grant_type: 'authorization_code',
        code,
        redirect_uri: redirectUri,
        code_verifier: verifier,
      });
      expect([first.status, first.json]).toEqual([200, expect.objectContaining(pair)]);
      const refreshed = await send({
        grant_type: 'refresh_token',
        refresh_token: first.json.refresh_token as string,
      });
      expect([refreshed.status, refreshed.json]).toEqual([200, expect.objectContaining(pair)]);
      expect(await newestGrantOf(service, of)).toEqual({ generation: 1, revoked: false });
    },
  );

  it.each(['header', 'body'] as const)(
    'of n8n connect a user with PKCE and refresh, and get a token for the client, with the secret in the %s',
    async (place) => {
      const redirectUri = 'https://n8n.example/rest/oauth2-credential/callback';
      const of = await service.make.client({ redirectUris: [redirectUri] });
      const { authorize, token } = await addressesOn('n8n');
      expect(authorize).toBe(`${service.settings.baseUrl}/o/authorize/`);
      const verifier = randomBytes(64).toString('base64url');
      const code = await codeFor({
        client_id: of.id,
        redirect_uri: redirectUri,
        response_type: 'code',
        state: Buffer.from(JSON.stringify({ token: 'csrf', cid: 'credential' })).toString('base64'),
        scope: 'charging_session:read vehicle:read',
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
      });
      const inBody = { client_id: of.id, client_secret: of.secret! };
      const basic = `Basic ${Buffer.from(`${of.id}:${of.secret}`).toString('base64')}`;
      const send = (form: Record<string, string>) =>
        service.http.send(token, {
          headers: {
            accept: 'application/json, application/x-www-form-urlencoded',
            ...(place === 'header' ? { authorization: basic } : {}),
          },
          form: { ...form, ...(place === 'body' ? inBody : {}) },
        });
      const first = await send({
        code,
        grant_type: 'authorization_code',
        redirect_uri: redirectUri,
        code_verifier: verifier,
      });
      expect([first.status, first.json]).toEqual([200, expect.objectContaining(pair)]);
      const refreshed = await send({
        refresh_token: first.json.refresh_token as string,
        grant_type: 'refresh_token',
      });
      expect([refreshed.status, refreshed.json]).toEqual([200, expect.objectContaining(pair)]);
      expect((await send({ grant_type: 'client_credentials' })).status).toBe(200);
    },
  );
});

/** A browser reduced to cookies. */
class Visitor {
  private readonly cookies = new Map<string, string>();

  constructor(readonly url: string) {}

  send(path: string, form?: Record<string, string>): Promise<Response> {
    return this.request(path, form && new URLSearchParams(form));
  }

  /** As a script of the page sends it. */
  sendJson(path: string, json: object): Promise<Response> {
    return this.request(path, JSON.stringify(json), { 'content-type': 'application/json', origin: this.url });
  }

  private async request(
    path: string,
    body?: URLSearchParams | string,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(this.url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { cookie, ...headers },
      body,
      redirect: 'manual',
    });
    for (const line of response.headers.getSetCookie()) {
      const [pair] = line.split(';');
      const at = pair!.indexOf('=');
      this.cookies.set(pair!.slice(0, at), pair!.slice(at + 1));
    }
    return response;
  }
}
