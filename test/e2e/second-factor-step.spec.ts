import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { madeForEach, PASSWORD, PATIENT, REDIRECT_URI, useSharedService } from '../support/spec.js';
import { actionsOn, auditEventsOn, notificationsOf } from '../support/audit-events.js';
import { authorizePath, BrowserSession, type Page } from '../support/browser-session.js';
import { setUpApp } from '../support/factors-without-pages.js';
import { whileHeld } from '../support/held-rows.js';
import {
  addPasskey,
  codeOf,
  wrongCode,
  giveCode,
  givePassword,
  isSignedIn,
  logInWith,
} from '../support/second-factors.js';
import { newAddress } from '../support/rate-limits.js';
import { leaveOutScheduledPurges, purgeOnly } from '../support/scheduled-work.js';

const STEP = '/login/second-factor';
const COOKIE = 'cds_pending_sign_in';
const NEW_PASSWORD = 'another horse battery staple';

describe('The step between password and second factor', () => {
  const service = useSharedService({ env: { TRUSTED_PROXIES: '127.0.0.1' }, databaseOptions: PATIENT });
  let secret: string;
  let codes: string[];
  // It would hold the rows that a test purges itself.
  beforeAll(() => leaveOutScheduledPurges(service));

  const user = madeForEach(() => service.make.user());
  const newBrowser = () => new BrowserSession(service.url, { 'x-forwarded-for': newAddress() });
  beforeEach(async () => ({ secret, codes } = await setUpApp(service, await service.make.signedIn(user))));

  const afterPassword = async (): Promise<BrowserSession> => {
    const browser = newBrowser();
    await givePassword(browser, user);
    return browser;
  };
  const expectExpired = (page: Page): void =>
    expect([page.status, page.html.querySelector('h1')!.text]).toEqual([401, 'Please log in again']);
  const pendingCount = async (): Promise<number> =>
    (await service.database.query('SELECT 1 FROM pending_sign_ins WHERE user_id = $1', [user.id])).length;
  const notifications = async (): Promise<string[]> =>
    (await notificationsOf(service, user.id)).map(({ message_id }) => message_id);

  it('has a field, a button and a way back, and no script', async () => {
    const page = await (await afterPassword()).open(`${STEP}?return_to=%2Faccount`);
    expect(page.html.querySelector('label[for=code]')!.text).toBe('Code');
    expect(page.html.querySelector('#code')!.getAttribute('autocomplete')).toBe('one-time-code');
    expect(page.html.querySelector('form button')!.text).toBe('Continue');
    expect(page.html.querySelector('a.button-link')!.getAttribute('href')).toBe(
      '/login?return_to=%2Faccount',
    );
    expect(page.text).not.toContain('<script');
  });

  it('is known by a cookie that scripts and other sites do not get', async () => {
    const answer = await givePassword(newBrowser(), user);
    const cookie = answer.headers.getSetCookie().find((line) => line.startsWith(COOKIE))!;
    expect(cookie).toMatch(
      /^cds_pending_sign_in=cds_sf_[\w-]{49}; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    expect(answer.headers.getSetCookie().some((line) => line.startsWith('cds_session='))).toBe(false);
    expect(answer.headers.getSetCookie().some((line) => line.startsWith('cds_known_browser='))).toBe(false);
  });

  it('keeps the request of an application', async () => {
    const client = await service.make.client();
    const path = authorizePath({ response_type: 'code', client_id: client.id, redirect_uri: REDIRECT_URI });
    const browser = newBrowser();
    const page = await browser.open((await givePassword(browser, user, path)).headers.get('location')!);
    expect((await browser.submit(page, STEP, { code: codeOf(secret) })).headers.get('location')).toBe(path);
    expect((await browser.open(path)).text).toContain(client.name);
  });

  describe('tells to start again', () => {
    it('a browser that did not give the password, with or without a cookie that says so', async () => {
      const browser = newBrowser();
      expectExpired(await browser.open(STEP));
      for (const value of ['x', `cds_sf_${'A'.repeat(49)}`]) {
        browser.cookies.set(COOKIE, value);
        expectExpired(await browser.open(STEP));
      }
    });

    it('a browser that has the page of another one, but not its cookie', async () => {
      const browser = await afterPassword();
      const page = await browser.open(STEP);
      browser.cookies.delete(COOKIE);
      expectExpired(await browser.submit(page, STEP, { code: codeOf(secret) }));
      expect(await isSignedIn(browser)).toBe(false);
    });

    it('after ten minutes', async () => {
      const browser = await afterPassword();
      const page = await browser.open(STEP);
      await service.database.query("UPDATE pending_sign_ins SET expires_at = now() - interval '1 second'");
      expectExpired(await browser.submit(page, STEP, { code: codeOf(secret) }));
      await purgeOnly(service, 'pending_sign_ins');
      expect(await pendingCount()).toBe(0);
    });

    it('after it was used', async () => {
      const browser = await afterPassword();
      const cookie = browser.cookies.get(COOKIE)!;
      expect((await giveCode(browser, codeOf(secret))).status).toBe(303);
      expect([browser.cookies.has(COOKIE), await pendingCount()]).toEqual([false, 0]);
      const again = newBrowser();
      again.cookies.set(COOKIE, cookie);
      expectExpired(await again.open(STEP));
    });

    it.each([
      ['the password was changed', { password: NEW_PASSWORD }],
      ['the email address was changed', { email: `changed.${Date.now()}@mail.example` }],
      ['the account was disabled', { enabled: false }],
    ])('after %s, also once that was undone', async (_what, changes) => {
      const browser = await afterPassword();
      const page = await browser.open(STEP);
      await service.app.get(UsersService).update(user.id, changes, SERVICE_ACTOR);
      expectExpired(await browser.submit(page, STEP, { code: codeOf(secret) }));
      expect(await isSignedIn(browser)).toBe(false);
      await service.app
        .get(UsersService)
        .update(user.id, { email: user.email, enabled: true }, SERVICE_ACTOR);
      expectExpired(await browser.submit(page, STEP, { code: codeOf(secret) }));
      expect([await isSignedIn(browser), await pendingCount()]).toEqual([false, 0]);
    });
  });

  it.each([
    ['disabled', 'UPDATE users SET enabled = false WHERE id = $1'],
    ['given another email address', "UPDATE users SET email = 'changed' || email WHERE id = $1"],
  ])('does not begin for an account that is being %s', async (_what, change) => {
    const browser = newBrowser();
    const attempt = () => givePassword(browser, user);
    const [answer] = await whileHeld(service, [change, [user.id]], [attempt], 'COMMIT');
    expect([answer!.status, browser.cookies.has(COOKIE), await pendingCount()]).toEqual([401, false, 0]);
    expect(await actionsOn(service, user.id, 'session.refused')).toHaveLength(1);
  });

  it('does not begin at a confirmation either', async () => {
    const old = await service.make.user();
    const [before, adding] = [await service.make.signedIn(old), await service.make.signedIn(old)];
    await setUpApp(service, adding);
    const page = await before.open('/account/confirm');
    const [answer] = await whileHeld(
      service,
      ['UPDATE users SET enabled = false WHERE id = $1', [old.id]],
      [() => before.submit(page, '/account/confirm', { password: PASSWORD })],
      'COMMIT',
    );
    expect([answer!.headers.get('location'), before.cookies.has(COOKIE)]).toEqual([
      '/account/security',
      false,
    ]);
  });

  it('logs in only once with two right codes at the same time', async () => {
    const browser = await afterPassword();
    const page = await browser.open(STEP);
    const code = codeOf(secret);
    const answers = await Promise.all(
      [code, codes[0]!].map((each) => browser.submit(page, STEP, { code: each })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 401]);
    // The code that came too late was not used up.
    const left = await service.database.query('SELECT 1 FROM recovery_codes WHERE user_id = $1', [user.id]);
    const [app] = await service.database.query<{ last_step: string }>(
      'SELECT last_step FROM authenticator_apps WHERE user_id = $1',
      [user.id],
    );
    // The same code: that of a later step would be right either way.
    const usedApp = (await giveCode(await afterPassword(), code)).status === 401;
    expect([left.length, usedApp, Number(app!.last_step) > 0]).toEqual([usedApp ? 10 : 9, usedApp, true]);
  });

  it('leaves the login of the browser as it was until the code is right', async () => {
    const other = await service.make.user();
    const browser = await service.make.signedIn(other);
    expect((await browser.open('/account/password')).text).toContain(other.email);
    await givePassword(await afterPasswordIn(browser), user);
    await giveCode(browser, wrongCode(secret));
    expect((await browser.open('/account')).text).toContain(other.email);
    await giveCode(browser, codeOf(secret));
    expect((await browser.open('/account')).text).toContain(user.email);
  });

  /** The login page is not shown to who is logged in, so its form comes from another browser with the same secret. */
  const afterPasswordIn = async (browser: BrowserSession): Promise<BrowserSession> => {
    const session = browser.cookies.get('cds_session')!;
    browser.cookies.delete('cds_session');
    const page = await browser.open('/login');
    browser.cookies.set('cds_session', session);
    await browser.submit(page, '/login', { email: user.email, password: PASSWORD });
    return Object.assign(Object.create(browser) as BrowserSession, { submit: () => Promise.resolve(page) });
  };

  describe('takes a recovery code', () => {
    it('once, however it is typed, and tells the user', async () => {
      const [first, second, third] = codes as [string, string, string];
      expect(first).toMatch(/^([0-9a-hjkmnp-tv-z]{4}-){3}[0-9a-hjkmnp-tv-z]{4}$/);
      expect((await giveCode(await afterPassword(), first)).status).toBe(303);
      expect((await giveCode(await afterPassword(), first)).status).toBe(401);
      expect(
        (await giveCode(await afterPassword(), ` ${second.toUpperCase().replaceAll('-', ' ')} `)).status,
      ).toBe(303);
      const misread = third.replaceAll('0', 'O').replaceAll('1', 'l').replaceAll('-', '');
      expect((await giveCode(await afterPassword(), misread)).status).toBe(303);
      expect((await notifications()).filter((id) => id === 'ERR2604').length).toBe(3);
      const events = await auditEventsOn(service, user.id, 'user.recovery_code_used');
      expect(events.map(({ after }) => after)).toEqual([{ left: 9 }, { left: 8 }, { left: 7 }]);
    });

    it('only of this account', async () => {
      const other = await service.make.user();
      const theirs = await setUpApp(service, await service.make.signedIn(other));
      expect((await giveCode(await afterPassword(), theirs.codes[0]!)).status).toBe(401);
    });

    it('of the newest set only', async () => {
      const browser = await afterPassword();
      await giveCode(browser, codeOf(secret));
      const path = '/account/security/recovery-codes';
      const page = await browser.open(path);
      expect(page.text).toContain('10 codes');
      expect(codes.filter((code) => page.text.includes(code))).toEqual([]);
      const shown = await browser.open((await browser.submit(page, path)).headers.get('location')!);
      const fresh = shown.html.querySelectorAll('.recovery-codes code').map((code) => code.text);
      expect([fresh.length, fresh.some((code) => codes.includes(code))]).toEqual([10, false]);
      expect((await browser.open(path)).html.querySelectorAll('.recovery-codes').length).toBe(0);
      expect((await giveCode(await afterPassword(), codes[0]!)).status).toBe(401);
      expect((await giveCode(await afterPassword(), fresh[0]!)).status).toBe(303);
      expect(await notifications()).toContain('ERR2605');
    });
  });

  it('offers the passkey too, which logs in by itself and ends the step', async () => {
    const first = await afterPassword();
    await giveCode(first, codeOf(secret));
    const { passkey, codes: further } = await addPasskey(first, service.url);
    expect(further).toEqual([]);
    const browser = await afterPassword();
    const page = await browser.open(STEP);
    expect(page.html.querySelector('[data-passkey-sign-in] button')!.text).toBe('Use a passkey');
    expect(page.html.querySelector('[data-without-passkeys]')!.text).toContain('JavaScript is switched off');
    expect((await logInWith(passkey, browser)).status).toBe(200);
    expect([browser.cookies.has(COOKIE), await pendingCount()]).toEqual([false, 0]);
    expect(await isSignedIn(browser)).toBe(true);
  });

  it('is also between the password and a change of factors, in a session that began without one', async () => {
    const old = await service.make.user();
    const [before, adding] = [await service.make.signedIn(old), await service.make.signedIn(old)];
    const app = await setUpApp(service, adding);
    // The password was given recently here, but never the factor.
    const asked = await before.open('/account/security/app/remove');
    expect(asked.headers.get('location')).toBe(
      '/account/confirm?return_to=%2Faccount%2Fsecurity%2Fapp%2Fremove',
    );
    const page = await before.open(asked.headers.get('location')!);
    const step = await before.submit(page, '/account/confirm', { password: PASSWORD });
    expect(step.headers.get('location')).toBe(
      '/login/second-factor?return_to=%2Faccount%2Fsecurity%2Fapp%2Fremove',
    );
    expect((await before.open('/account/security/app/remove')).status).toBe(303);
    const done = await giveCode(before, codeOf(app.secret), step.headers.get('location')!);
    expect(done.headers.get('location')).toBe('/account/security/app/remove');
    expect((await before.open('/account/security/app/remove')).status).toBe(200);
  });

  it('is kept by a change of password and by a confirmation', async () => {
    const browser = await afterPassword();
    await giveCode(browser, codeOf(secret));
    const path = '/account/password';
    const fields = { current_password: PASSWORD, password: NEW_PASSWORD, password_again: NEW_PASSWORD };
    expect((await browser.fillIn(path, fields)).status).toBe(303);
    const confirm = await browser.open('/account/confirm');
    expect((await browser.submit(confirm, '/account/confirm', { password: NEW_PASSWORD })).status).toBe(303);
    expect((await browser.open('/account/security/app/remove')).status).toBe(200);
  });
});
