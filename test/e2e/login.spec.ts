import argon2 from '@node-rs/argon2';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import {
  authorizePath,
  BrowserSession,
  csrfTokenOn,
  type Page,
  postedAnew,
} from '../support/browser-session.js';
import { madeOnce, PASSWORD, REDIRECT_URI, useSharedService } from '../support/spec.js';
import { newAddress, statusesOf } from '../support/rate-limits.js';

// Of every kind: test/unit/return-to.spec.ts.
const OUTSIDE = ['//evil.example', '/x/..//evil.example', `/${'x'.repeat(20_000)}`];
const INSIDE = '/v2/problems/not-found/?x=%26&y=//evil.example';

describe('The login', () => {
  const service = useSharedService();
  const user = madeOnce(() => service.make.user({ email: 'Driver@mail.example', name: 'Dana Driver' }));
  const client = madeOnce(() => service.make.client({ name: 'Northwind' }));

  const newBrowser = () => new BrowserSession(service.url);
  const attempt = async (email: string, password: string, browser = newBrowser()) =>
    browser.submit(await browser.open('/login'), '/login', { email, password });
  const isSignedIn = async (browser: BrowserSession) =>
    (await browser.open('/')).html.querySelector('form[action="/logout"]') !== null;
  const authorize = () =>
    authorizePath({
      response_type: 'code',
      client_id: client.id,
      redirect_uri: REDIRECT_URI,
      state: "a'b c",
    });
  /** The user's, that have not expired: those that have are purged at any time. */
  const sessionCount = (): Promise<number> =>
    service.database.value<number>(
      'SELECT count(*)::int FROM sessions WHERE user_id = $1 AND expires_at > now()',
      [user.id],
    );
  const returnToOn = (page: Page) =>
    page.html.querySelector('input[name="return_to"]')?.getAttribute('value');

  describe('refuses', () => {
    /** The page without the parts that differ each time. */
    const shapeOf = (page: Page, email: string) => ({
      status: page.status,
      body: page.text.replace(/name="csrf_token" value="[^"]+"/, '').replaceAll(email, '(email)'),
      headers: [...page.headers.keys()].filter((name) => name !== 'date').sort(),
      csp: page.headers.get('content-security-policy'),
      cookies: page.headers.getSetCookie(),
    });

    it('an unknown email address, a wrong password, a disabled user and a user without a password in the same way', async () => {
      const disabled = await service.make.user();
      await service.app.get(UsersService).update(disabled.id, { enabled: false }, SERVICE_ACTOR);
      const withoutPassword = await service.make.user({ password: undefined });
      const wrong = shapeOf(await attempt(user.email, 'wrong horse battery staple'), user.email);
      expect(wrong).toMatchObject({ status: 401, cookies: [] });
      for (const [email, password] of [
        ['nobody@mail.example', PASSWORD],
        [disabled.email, PASSWORD],
        [withoutPassword.email, PASSWORD],
        [withoutPassword.email, 'a password that nobody has'],
        [user.email, PASSWORD.toUpperCase()],
        [user.email, `${PASSWORD} `],
      ] as const) {
        expect(shapeOf(await attempt(email, password), email)).toEqual(wrong);
      }
    });

    it('an unknown email address only after the work that a wrong password costs', async () => {
      const browser = newBrowser();
      const page = await browser.open('/login');
      const password = 'wrong horse battery staple';
      /** Returns the arguments that argon2 received: algorithm, costs and password. */
      const workFor = async (email: string): Promise<string[][]> => {
        const verify = jest.spyOn(argon2, 'verify');
        await browser.submit(page, '/login', { email, password });
        const work = verify.mock.calls.map(([hash, given]) => [...String(hash).split('$', 4), String(given)]);
        verify.mockRestore();
        return work;
      };
      const known = await workFor((await service.make.user({ password: PASSWORD })).email);
      expect(known).toEqual([['', 'argon2id', 'v=19', 'm=19456,t=2,p=1', password]]);
      expect(await workFor('nobody@mail.example')).toEqual(known);
    });

    it.each([
      ['no password', 'Driver@mail.example', ''],
      ['no email address', '', PASSWORD],
      ['SQL', "' OR '1'='1", "' OR '1'='1"],
      ['markup', '"><script>alert(1)</script>', PASSWORD],
      ['a very long email address', `${'x'.repeat(10_000)}@mail.example`, PASSWORD],
    ])('an attempt with %s', async (_what, email, password) => {
      const page = await attempt(email, password);
      expect(page.status).toBe(401);
      expect(page.text).not.toContain('<script>');
      expect(page.html.querySelector('[role="alert"]')?.text).toBeTruthy();
    });

    it('a password over 256 characters, even if the first 256 are right', async () => {
      const long = 'p'.repeat(256);
      const { email } = await service.make.user({ password: long });
      expect((await attempt(email, `${long}p`)).status).toBe(401);
      expect((await attempt(email, 'p'.repeat(60_000))).status).toBe(401);
      expect((await attempt(email, long)).status).toBe(303);
    });

    it('a form without a CSRF token, with a wrong one, from another browser, or from another origin', async () => {
      const [browser, other] = [newBrowser(), newBrowser()];
      const page = await browser.open('/login');
      const otherPage = await other.open('/login');
      const tokenOf = (each: Page) =>
        each.html.querySelector('input[name="csrf_token"]')!.getAttribute('value')!;
      const token = tokenOf(page);
      const fields = { email: user.email, password: PASSWORD };
      const post = (form: Record<string, string>, origin: string | undefined, by = browser) =>
        by.open('/login', { form, headers: origin === undefined ? {} : { origin } });
      const before = await sessionCount();
      for (const answer of [
        await post({ ...fields, csrf_token: token }, 'https://evil.example'),
        await post({ ...fields, csrf_token: token }, 'null'),
        await post({ ...fields, csrf_token: token }, `${service.url}.evil.example`),
      ]) {
        expect(answer.status).toBe(403);
        expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
        expect(answer.headers.getSetCookie()).toEqual([]);
      }
      // Whoever logs in with a page that is out of date sees the page again.
      for (const answer of [
        await post(fields, service.url),
        await post({ ...fields, csrf_token: '' }, service.url),
        await post(
          { ...fields, csrf_token: token.slice(0, -2) + (token.at(-2) === 'x' ? 'yy' : 'xx') },
          service.url,
        ),
        await post({ ...fields, csrf_token: tokenOf(otherPage) }, service.url),
        await post({ ...fields, csrf_token: token }, service.url, newBrowser()),
      ]) {
        expect([answer.status, answer.html.querySelector('[role=alert]')!.text]).toEqual([
          422,
          'This page was out of date. Please try again.',
        ]);
        expect(answer.html.querySelector('#email')!.getAttribute('value')).toBe(user.email);
        expect(answer.text).not.toContain(PASSWORD);
        expect(answer.headers.getSetCookie().some((line) => !line.startsWith('cds_csrf='))).toBe(false);
      }
      expect(await sessionCount()).toBe(before);
      expect((await post({ ...fields, csrf_token: token }, undefined)).status).toBe(303);
    });
  });

  describe('with return_to', () => {
    it.each(OUTSIDE)('ignores %j', async (returnTo) => {
      const query = new URLSearchParams({ return_to: returnTo }).toString();
      const browser = newBrowser();
      const page = await browser.open(returnTo.length > 9999 ? '/login' : `/login?${query}`);
      expect(returnToOn(page)).toBeUndefined();
      const fields = { email: user.email, password: PASSWORD, return_to: returnTo };
      expect((await browser.submit(page, '/login', fields)).headers.get('location')).toBe('/account');
      if (returnTo.length < 9999) {
        const again = await browser.open(`/login?${query}`);
        expect([again.status, again.headers.get('location')]).toEqual([302, '/account']);
      }
      const out = await browser.submit(await browser.open('/'), '/logout', { return_to: returnTo });
      expect(out.headers.get('location')).toBe('/login');
    });

    it('redirects to a place of the service', async () => {
      const browser = newBrowser();
      const query = new URLSearchParams({ return_to: INSIDE }).toString();
      const page = await browser.open(`/login?${query}`);
      expect(returnToOn(page)).toBe(INSIDE);
      const answer = await browser.submit(page, '/login', { email: user.email, password: PASSWORD });
      expect([answer.status, answer.headers.get('location')]).toEqual([303, INSIDE]);
      const again = await browser.open(`/login?${query}`);
      expect([again.status, again.headers.get('location')]).toEqual([302, INSIDE]);
    });

    it('keeps it after a failed attempt, so that the authorization request arrives unchanged', async () => {
      const browser = newBrowser();
      const page = await browser.open((await browser.open(authorize())).headers.get('location')!);
      expect(page.html.querySelector('h1 + p')?.text).toContain('Northwind');
      const failed = await browser.submit(page, '/login', { email: user.email, password: 'wrong' });
      expect(failed.html.querySelector('#email')?.getAttribute('value')).toBe(user.email);
      const answer = await browser.submit(failed, '/login', { email: user.email, password: PASSWORD });
      const back = await browser.open(answer.headers.get('location')!);
      const decided = await browser.submit(back, '/o/authorize/', { decision: 'authorize' });
      expect(new URL(decided.headers.get('location')!).searchParams.get('state')).toBe("a'b c");
    });
  });

  it('accepts the email address in any case, and redirects to the account', async () => {
    const browser = newBrowser();
    const answer = await attempt('dRIVER@MAIL.example', PASSWORD, browser);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/account']);
    expect(await isSignedIn(browser)).toBe(true);
  });

  it('accepts the email address with the space that keyboards of phones add', async () => {
    expect((await attempt(` ${user.email} `, PASSWORD)).status).toBe(303);
  });

  it('accepts a password whose composed form is longer than what was typed', async () => {
    const password = '\ufb2c'.repeat(100);
    const { email } = await service.make.user({ password });
    expect((await attempt(email, password)).status).toBe(303);
  });

  it('leads to the account who is already signed in', async () => {
    const page = await (await service.make.signedIn(user)).open('/login');
    expect([page.status, page.headers.get('location')]).toEqual([302, '/account']);
  });

  it('starts a new session, ends the previous one, and accepts no session id that it did not create', async () => {
    const browser = newBrowser();
    const page = await browser.open('/login');
    browser.cookies.set('cds_session', 'cds_ss_planted');
    await browser.submit(page, '/login', { email: user.email, password: PASSWORD });
    const first = browser.cookies.get('cds_session')!;
    expect(first).not.toBe('cds_ss_planted');
    // The login form was opened in another tab.
    await browser.submit(page, '/login', { email: user.email, password: PASSWORD, ...postedAnew() });
    expect(browser.cookies.get('cds_session')).not.toBe(first);
    expect(await isSignedIn(browser)).toBe(true);
    browser.cookies.set('cds_session', first);
    expect(await isSignedIn(browser)).toBe(false);
  });

  it('stores the session id only as a digest, and writes neither it nor the password into the log', async () => {
    const id = (await service.make.signedIn(user)).cookies.get('cds_session')!;
    const rows = await service.database.query<{ text: string }>(
      'SELECT sessions::text AS text FROM sessions',
    );
    expect(rows.some(({ text }) => text.includes(id.slice(7)))).toBe(false);
    const log = service.log.join('');
    expect([log.includes(id), log.includes(PASSWORD), log.includes('return_to')]).toEqual([
      false,
      false,
      false,
    ]);
  });

  it('lasts until the session expires', async () => {
    const browser = await service.make.signedIn(user);
    await service.database.query('UPDATE sessions SET expires_at = now()');
    expect(await isSignedIn(browser)).toBe(false);
    expect((await browser.open(authorize())).headers.get('location')).toMatch(/^\/login\?return_to=/);
  });

  describe('with its logout form', () => {
    it('ends the session in the database, and redirects to the login with return_to', async () => {
      const browser = await service.make.signedIn(user);
      const id = browser.cookies.get('cds_session')!;
      const before = await sessionCount();
      const page = await browser.open(authorize());
      const answer = await browser.submit(page, '/logout');
      const expected = `/login?${new URLSearchParams({ return_to: returnToOn(page)! }).toString()}`;
      expect([answer.status, answer.headers.get('location')]).toEqual([303, expected]);
      expect(browser.cookies.has('cds_session')).toBe(false);
      expect(await sessionCount()).toBe(before - 1);
      browser.cookies.set('cds_session', id);
      expect(await isSignedIn(browser)).toBe(false);
    });
  });

  it('leaves the cookies of an application at another port of the same host alone', async () => {
    const browser = newBrowser();
    const theirs = { session: 'eyJzdGF0ZSI6IngifQ.aSig', csrf: 'c'.repeat(43), language: 'de', zone: 'Mars' };
    for (const [name, value] of Object.entries(theirs)) browser.cookies.set(name, value);
    await browser.logIn(user.email, PASSWORD);
    await browser.submit(await browser.open('/account?ui_locales=fr'), '/logout');
    expect(Object.fromEntries(browser.cookies)).toMatchObject(theirs);
    const others = [...browser.cookies.keys()].filter((name) => !(name in theirs));
    expect(others.filter((name) => !name.startsWith('cds_'))).toEqual([]);
    expect(others).toContain('cds_language');
  });

  it('over http sets cookies without Secure, and sends no HSTS', async () => {
    const browser = newBrowser();
    const page = await browser.open('/login');
    const answer = await browser.submit(page, '/login', { email: user.email, password: PASSWORD });
    const [csrf] = page.headers.getSetCookie();
    const [session] = answer.headers.getSetCookie();
    expect(csrf).toMatch(/^cds_csrf=[^;]+; Path=\/; HttpOnly; SameSite=Lax$/);
    expect(session).toMatch(/^cds_session=[^;]+; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/);
    expect(answer.headers.get('strict-transport-security')).toBeNull();
  });
});

describe('A browser that logged in to an account before', () => {
  const service = useSharedService({ instances: 2, env: { TRUSTED_PROXIES: '127.0.0.1' } });
  const COOKIE = 'cds_known_browser';

  // The rest of what is said of known browsers is in test/e2e/login-protection.spec.ts.
  it('is known on another instance too, because the cookie contains everything', async () => {
    const user = await service.make.user();
    const by = await service.make.signedIn(user);
    const elsewhere = new BrowserSession(service.instances[1]!.url, { 'x-forwarded-for': newAddress() });
    const login = async (password: string) => {
      const csrf_token = csrfTokenOn(await elsewhere.open('/login'));
      const form = { csrf_token, email: user.email, password };
      return elsewhere.open('/login', { form, headers: { origin: service.url } });
    };
    expect(await statusesOf(6, () => login('wrong horse battery staple'))).toEqual([
      401, 401, 401, 401, 401, 429,
    ]);
    expect((await login(PASSWORD)).status).toBe(429);
    elsewhere.cookies.set(COOKIE, by.cookies.get(COOKIE)!);
    expect((await login(PASSWORD)).status).toBe(303);
  });
});
