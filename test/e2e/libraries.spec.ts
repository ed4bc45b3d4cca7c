import { breakOff } from '../support/break-off.js';
import { BrowserSession } from '../support/browser-session.js';
import { PASSWORD, type TestClient } from '../support/factory.js';
import { freePort } from '../support/free-port.js';
import { placeOf } from '../support/http.js';
import { madeOnce } from '../support/made.js';
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
      expect(await newestGrantOf(service, of)).toEqual({ generation: 1, revoked: false });
      await service.database.query(`UPDATE grants SET revoked_at = now() WHERE client_id = $1`, [of.id]);
      const ended = await visitor.send('/me');
      expect(placeOf(ended)).toEqual([302, '/login']);
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
