import { Apache, lackingApache } from '../support/apache.js';
import { BrowserSession } from '../support/browser-session.js';
import { PASSWORD, REDIRECT_URI, type TestClient } from '../support/factory.js';
import { freePort } from '../support/free-port.js';
import { placeOf } from '../support/http.js';
import { describeUnless } from '../support/left-out.js';
import { madeOnce } from '../support/made.js';
import { revoke } from '../support/oauth.js';
import { LACKING, PageProgram, PagePrograms } from '../support/page-programs.js';
import { startInstance, useSharedService } from '../support/test-service.js';
import { TlsFront } from '../support/tls-front.js';
import { until } from '../support/until.js';

const service = useSharedService();

const user = madeOnce(() => service.make.user());
const browser = madeOnce(() => service.make.signedIn(user));
const client = madeOnce(() => service.make.client());
const app = madeOnce(() => service.make.client({ type: 'public' }));

/** What the programs of the pages are configured with. */
const settingsOf = (of: TestClient): Record<string, string> => ({
  CLIENT_ID: of.id,
  REDIRECT_URI,
  ...(of.secret ? { CLIENT_SECRET: of.secret } : {}),
});

const newestGrantOf = async (of: TestClient): Promise<{ generation: number; revoked: boolean } | undefined> =>
  (
    await service.database.query<{ generation: number; revoked: boolean }>(
      `SELECT generation, revoked_at IS NOT NULL AS revoked FROM grants WHERE client_id = $1 ORDER BY id DESC LIMIT 1`,
      [of.id],
    )
  )[0];

const LIBRARIES: [slug: string, extension: string, lacking: string | undefined][] = [
  ['openid-client', 'mjs', undefined],
  ['oauth4webapi', 'mjs', undefined],
  ['simple-oauth2', 'mjs', undefined],
  ['requests-oauthlib', 'py', LACKING['requests-oauthlib']],
  ['authlib', 'py', LACKING.authlib],
  ['go-oauth2', 'go', LACKING['go-oauth2']],
  ['ruby-oauth2', 'rb', LACKING['ruby-oauth2']],
];

for (const [slug, extension, lacking] of LIBRARIES)
  describeUnless(lacking, `The programs on the page about ${slug}`, () => {
    let programs: PagePrograms;
    beforeAll(async () => (programs = await PagePrograms.of(service.http, `/docs/libraries/${slug}`)));
    afterAll(() => programs.remove());

    /** Does what a person does: opens the address that the program prints, decides, and pastes the address of the way back. */
    async function decide(
      of: TestClient,
      decision: 'authorize' | 'cancel',
      change = (cameTo: URL) => cameTo,
    ): Promise<{ sent: URL; end: Awaited<ReturnType<PageProgram['end']>> }> {
      const program = programs.start(`user.${extension}`, settingsOf(of));
      const sent = new URL(await program.firstLine());
      const cameTo = await browser.authorize(Object.fromEntries(sent.searchParams), decision);
      program.type(change(cameTo).href);
      return { sent, end: await program.end() };
    }

    it.each(['confidential', 'public'] as const)(
      'connect a user with PKCE, refresh, read and revoke as a %s client',
      async (type) => {
        const of = type === 'public' ? app : client;
        const { sent, end } = await decide(of, 'authorize');
        expect({ code: end.code, err: end.err }).toEqual({ code: 0, err: '' });
        expect(sent.searchParams.get('code_challenge_method')).toBe('S256');
        const [, me, last] = end.lines;
        expect([JSON.parse(me!), last]).toEqual([expect.objectContaining({ id: user.id }), 'revoked']);
        expect(await newestGrantOf(of)).toEqual({ generation: 1, revoked: true });
      },
    );

    it('stop when the user cancels, or when the answer belongs to another login', async () => {
      const before = await newestGrantOf(client);
      const cancelled = await decide(client, 'cancel');
      expect(cancelled.end.code).not.toBe(0);
      expect(cancelled.end.err).toMatch(/access_denied|cancel/i);
      const foreign = await decide(client, 'authorize', (cameTo) => {
        cameTo.searchParams.set('state', 'another');
        return cameTo;
      });
      expect(foreign.end.code).not.toBe(0);
      expect(await newestGrantOf(client)).toEqual(before);
    });

    it('read the users of a client with a token of its own, and stop at a wrong secret', async () => {
      await service.make.consent(client, user);
      const settings = settingsOf(client);
      const { code, lines, err } = await programs.start(`service.${extension}`, settings).end();
      expect({ code, err }).toEqual({ code: 0, err: '' });
      expect(JSON.parse(lines[0]!)).toEqual([expect.objectContaining({ id: user.id })]);
      const refused = programs.start(`service.${extension}`, { ...settings, CLIENT_SECRET: 'wrong' });
      expect((await refused.end()).code).not.toBe(0);
    });
  });

describeUnless(
  LACKING['requests-oauthlib'],
  'The program on the page about requests-oauthlib that refreshes by itself',
  () => {
    it('stores the new pair before it uses it', async () => {
      const programs = await PagePrograms.of(service.http, '/docs/libraries/requests-oauthlib');
      const old = { ...(await service.make.tokens(client, user)), expires_at: 1 };
      const settings = { ...settingsOf(client), TOKEN: JSON.stringify(old) };
      const { code, lines, err } = await programs.start('auto_refresh.py', settings).end();
      await programs.remove();
      expect({ code, err, first: lines[0] }).toEqual({ code: 0, err: '', first: 'stored' });
      expect(JSON.parse(lines[1]!)).toMatchObject({ id: user.id });
      expect(await newestGrantOf(client)).toEqual({ generation: 1, revoked: false });
    });
  },
);

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
    const settings = { ...settingsOf(of), PORT: String(port), AUTH_SECRET: 'a secret for the cookies' };
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
      const back = await visitor.send(cameTo.pathname + cameTo.search);
      expect(placeOf(back)).toEqual([302, '/me']);
      expect(await (await visitor.send('/me')).json()).toMatchObject({ id: user.id });
      expect(await newestGrantOf(of)).toEqual({ generation: 1, revoked: false });
      await service.database.query(`UPDATE grants SET revoked_at = now() WHERE client_id = $1`, [of.id]);
      const ended = await visitor.send('/me');
      expect(placeOf(ended)).toEqual([302, '/login']);
    },
  );

  it('Auth.js connects a user, refreshes, and says in the session when the grant has ended', async () => {
    const of = await service.make.client({ redirectUris: ['http://127.0.0.1/auth/callback/charging'] });
    const visitor = await start('auth-js', 'server.mjs', of, await freePort());
    const { csrfToken } = (await (await visitor.send('/auth/csrf')).json()) as { csrfToken: string };
    const signIn = await visitor.send('/auth/signin/charging', { csrfToken });
    const cameTo = await authorize(signIn.headers.get('location')!);
    const back = await visitor.send(cameTo.pathname + cameTo.search);
    if (/error/.test(back.headers.get('location')!)) throw new Error(running[0]!.err);
    const session = async () => (await visitor.send('/auth/session')).json();
    expect(await session()).toMatchObject({ user: { email: user.email }, charging_id: user.id });
    const { generation } = (await newestGrantOf(of))!;
    expect(generation).toBeGreaterThan(0);
    await service.database.query(`UPDATE grants SET revoked_at = now() WHERE client_id = $1`, [of.id]);
    expect(await session()).toMatchObject({ error: 'Disconnected' });
  });
});

/** A browser reduced to cookies. */
class Visitor {
  private readonly cookies = new Map<string, string>();

  constructor(readonly url: string) {}

  async send(path: string, form?: Record<string, string>): Promise<Response> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(this.url + path, {
      method: form ? 'POST' : 'GET',
      headers: { cookie },
      body: form ? new URLSearchParams(form) : undefined,
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

describeUnless(lackingApache, 'The configuration on the page about mod_auth_openidc', () => {
  const REMEMBERS_LINE = /^.*OIDCOAuthTokenIntrospectionInterval.*$/m;
  let apache: Apache | undefined;
  let front: TlsFront | undefined;
  let ports: { shown: number; untilExpiry: number; never: number };

  beforeAll(async () => {
    const programs = await PagePrograms.of(service.http, '/docs/libraries/mod-auth-openidc');
    // The module insists on TLS for introspection.
    front = await TlsFront.start(service.url);
    const shown = programs.files.get('resource-server.conf')!.replaceAll(service.url, front.url);
    await programs.remove();
    expect(shown).toMatch(REMEMBERS_LINE);
    ports = { shown: await freePort(), untilExpiry: await freePort(), never: await freePort() };
    const sites = new Map([
      [ports.shown, shown],
      [ports.untilExpiry, shown.replace(REMEMBERS_LINE, '')],
      [ports.never, shown.replace(REMEMBERS_LINE, 'OIDCOAuthTokenIntrospectionInterval -1')],
    ]);
    const inspector = await service.make.operatorClient(['token:introspect']);
    apache = await Apache.start(sites, settingsOf(inspector), front.authority);
  });
  afterAll(async () => {
    await apache?.stop();
    front?.stop();
  });

  const ask = async (port: number, token?: string) =>
    (await fetch(`http://127.0.0.1:${port}/`, token ? { headers: { authorization: `Bearer ${token}` } } : {}))
      .status;

  it('refuses requests without a token, with a wrong one, and with one that lacks the scope', async () => {
    const narrow = await service.make.clientToken(client, 'charging_session:read');
    expect(await ask(ports.shown)).toBe(401);
    expect(await ask(ports.shown, `${narrow.slice(0, -4)}AAAA`)).toBe(401);
    expect(await ask(ports.shown, narrow)).toBe(401);
  });

  it('lets a valid token in; revoked, it is refused at once with -1, soon with the interval, and by default not before it expires', async () => {
    // The hosts share a memory, so each has a token of its own.
    const admitted = async (port: number) => {
      const token = await service.make.clientToken(client);
      expect(await ask(port, token)).toBe(200);
      expect((await revoke(service.http, client, token)).status).toBe(200);
      return token;
    };
    const kept = await admitted(ports.untilExpiry);
    expect(await ask(ports.never, await admitted(ports.never))).toBe(401);
    const soon = await admitted(ports.shown);
    await until('the interval has passed', async () => (await ask(ports.shown, soon)) === 401);
    expect(await ask(ports.untilExpiry, kept)).toBe(200);
  });
});
