import { UsersService } from '#access/users/accounts/users.service.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { BrowserSession, authorizePath, leadsTo, type Page } from '../support/browser-session.js';
import { madeOnce, newPkce, PASSWORD, REDIRECT_URI, useSharedServiceWithMail } from '../support/spec.js';
import { setUpApp } from '../support/factors-without-pages.js';
import { newAddress } from '../support/rate-limits.js';
import { signUpOptions } from '../support/passkey-sign-ups.js';
import { codeOf } from '../support/second-factors.js';
import { SoftwarePasskey } from '../support/software-passkey.js';

const NEW_PASSWORD = 'a new long password';
const FORGOTTEN = '/password/forgotten';
const SIGN_UP = '/sign-up';

describe('An authorization request', () => {
  const { service, smtp } = useSharedServiceWithMail();
  const client = madeOnce(() => service.make.client({ name: 'Charge Planner' }));
  let counter = 0;

  const newBrowser = (): BrowserSession =>
    new BrowserSession(service.url, { 'x-forwarded-for': newAddress() });
  const newEmail = (): string => `consenting${++counter}@mail.example`;
  const requestOf = (of = client): string =>
    authorizePath({
      response_type: 'code',
      client_id: of.id,
      redirect_uri: REDIRECT_URI,
      state: `state of ${++counter}`,
      code_challenge: newPkce().challenge,
      code_challenge_method: 'S256',
    });
  /** Follows a link of the login page that the request leads to, and asks for a mail there. */
  const askFrom = async (request: string, path: string, email: string): Promise<Page> => {
    const browser = newBrowser();
    const login = await browser.open((await browser.open(request)).headers.get('location')!);
    const link = login.html
      .querySelectorAll('a')
      .map((each) => each.getAttribute('href')!.replaceAll('&amp;', '&'))
      .find((href) => href.split('?')[0] === path)!;
    return browser.submit(await browser.open(link), path, { email });
  };
  const linkTo = async (email: string, n = 1): Promise<string> => {
    const url = new URL((await smtp.mailTo(email, n)).link);
    // The mail holds nothing but the one-time key.
    expect(url.search).toBe('');
    return url.pathname;
  };
  /** A form as it stands on a page of this browser that was opened before its cookies were deleted. */
  const outOfDate = async (browser: BrowserSession, page: string, action: string, fields: object) => {
    const shown = await browser.open(page);
    browser.cookies.delete('cds_csrf');
    return browser.submit(shown, action, { ...fields });
  };
  const person = { name: 'Zoë Driver', password: NEW_PASSWORD, password_again: NEW_PASSWORD };
  const passwords = { password: NEW_PASSWORD, password_again: NEW_PASSWORD };
  const goneTo = (page: Page): [number, string | null] => [page.status, page.headers.get('location')];
  const expectConsentPage = async (browser: BrowserSession, path: string, email: string): Promise<void> => {
    const page = await browser.open(path);
    expect(page.status).toBe(200);
    expect(page.html.querySelector('h1')!.text).toContain('Charge Planner');
    expect(page.html.text).toContain(email);
    const answer = await browser.submit(page, '/o/authorize/', { decision: 'authorize' });
    const location = new URL(answer.headers.get('location')!);
    const { searchParams } = new URL(path, service.url);
    expect(location.searchParams.get('state')).toBe(searchParams.get('state'));
    expect(location.searchParams.get('code')).toMatch(/^cds_ac_/);
  };

  describe('comes back after the mail', () => {
    it('of a sign-up, in another browser, whose new account is logged in; the link works once', async () => {
      const [request, email] = [requestOf(), newEmail()];
      expect((await askFrom(request, SIGN_UP, email)).status).toBe(200);
      const link = await linkTo(email);
      const [browser, late] = [newBrowser(), newBrowser()];
      const latePage = await late.open(link);
      expect(goneTo(await browser.submit(await browser.open(link), link, person))).toEqual([303, request]);
      await expectConsentPage(browser, request, email);
      expect((await late.submit(latePage, link, person)).status).toBe(410);
      expect(late.cookies.has('cds_session')).toBe(false);
    });

    it('of a sign-up with a passkey', async () => {
      const [request, email] = [requestOf(), newEmail()];
      await askFrom(request, SIGN_UP, email);
      const link = await linkTo(email);
      const browser = newBrowser();
      const response = new SoftwarePasskey(service.url).create(await signUpOptions(browser, link));
      const fields = { name: 'Zoë Driver', response };
      expect(goneTo(await browser.submit(await browser.open(link), link, fields))).toEqual([303, request]);
      await expectConsentPage(browser, request, email);
    });

    it('of a sign-up with an address that has an account', async () => {
      const [request, user] = [requestOf(), await service.make.user()];
      await askFrom(request, SIGN_UP, user.email);
      const link = await linkTo(user.email);
      const browser = newBrowser();
      const answer = await browser.submit(await browser.open(link), link, passwords);
      expect(goneTo(answer)).toEqual([303, request]);
      await expectConsentPage(browser, request, user.email);
    });

    it('of a forgotten password, and everybody else is logged out', async () => {
      const [request, user] = [requestOf(), await service.make.user()];
      const before = await service.make.signedIn(user);
      await askFrom(request, FORGOTTEN, user.email);
      const link = await linkTo(user.email);
      const browser = newBrowser();
      const answer = await browser.submit(await browser.open(link), link, passwords);
      expect(goneTo(answer)).toEqual([303, request]);
      await expectConsentPage(browser, request, user.email);
      expect((await before.open('/account')).status).toBe(302);
      expect((await newBrowser().open(link)).status).toBe(410);
      // The browser is known from now on: neither this login nor the next is told of as one of a stranger, as the first one was.
      await browser.submit(await browser.open('/account'), '/logout');
      await browser.logIn(user.email, NEW_PASSWORD);
      const told = await service.database.query(
        "SELECT 1 FROM notifications WHERE user_id = $1 AND message_id = 'ERR2002'",
        [user.id],
      );
      expect(told).toHaveLength(1);
    });

    it('only behind the second factor, where the account has one', async () => {
      const [request, user] = [requestOf(), await service.make.user()];
      const { secret } = await setUpApp(service, await service.make.signedIn(user));
      await askFrom(request, FORGOTTEN, user.email);
      const link = await linkTo(user.email);
      const browser = newBrowser();
      const answer = await browser.submit(await browser.open(link), link, passwords);
      const step = `/login/second-factor?${new URLSearchParams({ return_to: request }).toString()}`;
      expect(goneTo(answer)).toEqual([303, step]);
      expect((await browser.open(request)).status).toBe(302);
      const done = await browser.submit(await browser.open(step), '/login/second-factor', {
        code: codeOf(secret, 1),
      });
      expect(goneTo(done)).toEqual([303, request]);
      await expectConsentPage(browser, request, user.email);
    });

    it('which is refused, so that a page after the form leads to the application', async () => {
      const [request, email] = [`${requestOf()}&scope=unknown:scope`, newEmail()];
      const asking = newBrowser();
      await asking.submit(await asking.open(SIGN_UP), SIGN_UP, { email, return_to: request });
      const link = await linkTo(email);
      const browser = newBrowser();
      const page = await browser.open(link);
      expect(page.headers.get('content-security-policy')).toContain("form-action 'self'");
      const answer = await browser.submit(page, link, person);
      expect([answer.status, leadsTo(answer)]).toEqual([200, request]);
      expect((await browser.open(request)).headers.get('location')).toMatch(
        `${REDIRECT_URI}?error=invalid_scope`,
      );
    });
  });

  it('is kept by the form when the address is wrong, and by the way back to the login', async () => {
    const request = requestOf();
    const page = await askFrom(request, SIGN_UP, 'no address');
    expect(page.status).toBe(400);
    const form = page.html.querySelector(`form[action="${SIGN_UP}"]`)!;
    expect(
      form.querySelector('input[name="return_to"]')!.getAttribute('value')!.replaceAll('&amp;', '&'),
    ).toBe(request);
    const back = `/login?${new URLSearchParams({ return_to: request }).toString()}`;
    expect(page.html.querySelectorAll('a').map((each) => each.getAttribute('href'))).toContain(back);
    const sent = await askFrom(request, SIGN_UP, newEmail());
    expect(sent.html.querySelectorAll('a').map((each) => each.getAttribute('href'))).toContain(back);
  });

  // Of every kind: test/unit/return-to.spec.ts.
  it('is never an address of someone else', async () => {
    const return_to = '//evil.example/';
    for (const path of [SIGN_UP, FORGOTTEN]) {
      const user = path === FORGOTTEN ? await service.make.user() : undefined;
      const email = user?.email ?? newEmail();
      const browser = newBrowser();
      await browser.submit(await browser.open(path), path, { email, return_to });
      const link = await linkTo(email);
      const answer = await browser.submit(await browser.open(link), link, person);
      expect([answer.status, answer.headers.get('location')]).toEqual([200, null]);
      expect(browser.cookies.has('cds_session')).toBe(false);
    }
  });

  it('is stored sealed, and what someone else writes in its place is not followed', async () => {
    const [request, email] = [requestOf(), newEmail()];
    await askFrom(request, SIGN_UP, email);
    const link = await linkTo(email);
    const rows = await service.database.query<{ return_to: Buffer }>(
      'SELECT return_to FROM email_links WHERE email = $1',
      [email],
    );
    expect(rows[0]!.return_to.toString('latin1')).not.toContain('/o/authorize');
    await service.database.query('UPDATE email_links SET return_to = $2 WHERE email = $1', [
      email,
      Buffer.from('//evil.example/'),
    ]);
    const browser = newBrowser();
    expect(goneTo(await browser.submit(await browser.open(link), link, person))).toEqual([200, null]);
  });

  it('does not log in who was disabled meanwhile', async () => {
    const [request, user] = [requestOf(), await service.make.user()];
    await askFrom(request, FORGOTTEN, user.email);
    const link = await linkTo(user.email);
    const browser = newBrowser();
    const page = await browser.open(link);
    await service.make.setEnabled(user, false);
    expect((await browser.submit(page, link, passwords)).status).toBe(410);
    expect(browser.cookies.has('cds_session')).toBe(false);
  });

  it('is answered once, however often its link is used at once', async () => {
    const [request, user] = [requestOf(), await service.make.user()];
    await askFrom(request, FORGOTTEN, user.email);
    const link = await linkTo(user.email);
    const browsers = Array.from({ length: 5 }, newBrowser);
    const pages = await Promise.all(browsers.map((browser) => browser.open(link)));
    const answers = await Promise.all(
      browsers.map((browser, n) => browser.submit(pages[n]!, link, passwords)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 410, 410, 410, 410]);
    const sessions = await service.database.query('SELECT 1 FROM sessions WHERE user_id = $1', [user.id]);
    expect(sessions).toHaveLength(1);
  });

  it('ends with the link of an operator, which leads to the login as before', async () => {
    const user: UserEntity = await service.make.user();
    const token = await service.make.adminToken();
    const made = await service.http.send(`/admin/users/${user.id}/password_links`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
    });
    const link = new URL((made.json as { url: string }).url).pathname;
    const browser = newBrowser();
    expect(goneTo(await browser.submit(await browser.open(link), link, passwords))).toEqual([200, null]);
    expect(browser.cookies.has('cds_session')).toBe(false);
    expect((await service.app.get(UsersService).get(user.id)).enabled).toBe(true);
  });

  it.each([
    ['the login', '/login', { password: 'a long password' }],
    ['a forgotten password', FORGOTTEN, {}],
    ['a sign-up', SIGN_UP, {}],
  ])('is kept by a form of %s that is out of date and shown again', async (_what, path, fields) => {
    const [browser, request, email] = [newBrowser(), requestOf(), newEmail()];
    const from = `${path}?${new URLSearchParams({ return_to: request }).toString()}`;
    const again = await outOfDate(browser, from, path, { email, ...fields });
    expect(again.status).toBe(422);
    expect(again.html.querySelector('main')!.text).toContain('This page was out of date. Please try again.');
    const form = again.html.querySelector(`form[action="${path}"]`)!;
    const valueOf = (name: string) =>
      form.querySelector(`[name=${name}]`)!.getAttribute('value')!.replaceAll('&amp;', '&');
    expect([valueOf('return_to'), valueOf('email')]).toEqual([request, email]);
    expect(await service.database.query('SELECT 1 FROM mails WHERE address = $1', [email])).toEqual([]);
  });

  it('is kept by the step of a second factor that is out of date, which uses up no code', async () => {
    const [request, user] = [requestOf(), await service.make.user()];
    const { secret } = await setUpApp(service, await service.make.signedIn(user));
    const browser = newBrowser();
    const login = await browser.open((await browser.open(request)).headers.get('location')!);
    const asked = await browser.submit(login, '/login', { email: user.email, password: PASSWORD });
    const step = asked.headers.get('location')!;
    const again = await outOfDate(browser, step, '/login/second-factor', { code: codeOf(secret) });
    expect([again.status, again.html.text.includes('This page was out of date.')]).toEqual([422, true]);
    const answer = await browser.submit(again, '/login/second-factor', { code: codeOf(secret) });
    expect(goneTo(answer)).toEqual([303, request]);
  });
});
