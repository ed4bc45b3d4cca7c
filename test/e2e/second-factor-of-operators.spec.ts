import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { type BrowserSession, madeForEach, PASSWORD, useService } from '../support/spec.js';
import {
  addApp,
  addPasskey,
  codeOf,
  giveCode,
  givePassword,
  logInWith,
  newBrowserAt,
} from '../support/second-factors.js';
import { setUpApp, setUpPasskey } from '../support/factors-without-pages.js';

const CONSOLE = '/admin/console';
const SECURITY = '/account/security';

describe('With SECOND_FACTOR_FOR_OPERATORS', () => {
  const service = useService({ env: { SECOND_FACTOR_FOR_OPERATORS: 'true' }, hostname: 'localhost' });
  const operator = madeForEach(() => service.make.user({ role: 'operator' }));

  const locationOf = async (browser: BrowserSession, path = CONSOLE) => {
    const { status, headers } = await browser.open(path);
    return [status, headers.get('location')];
  };

  const passkeyOf = async ({ id }: UserEntity): Promise<string> => {
    const sql = 'SELECT id FROM passkeys WHERE user_id = $1';
    return (await service.database.query<{ id: string }>(sql, [id]))[0]!.id;
  };

  it('leads an operator without a factor to set one up, before any page or form of the console', async () => {
    const browser = await service.make.signedIn(operator);
    for (const path of [CONSOLE, `${CONSOLE}/users`, `${CONSOLE}/confirm-password`, `${CONSOLE}/nowhere`])
      expect(await locationOf(browser, path)).toEqual([303, SECURITY]);
    const posted = await browser.open(`${CONSOLE}/users/new`, { form: {} });
    expect([posted.status, posted.headers.get('location')]).toEqual([303, SECURITY]);
    expect((await browser.open(SECURITY)).html.querySelector('[role=status]')!.text).toContain(
      'Operators need a second factor',
    );
    await addApp(browser);
    expect(await locationOf(browser)).toEqual([200, null]);
    expect((await browser.open(SECURITY)).html.querySelector('[role=status]')).toBeNull();
  });

  it('opens the console to a session with a passkey, or with password and code', async () => {
    const first = await service.make.signedIn(operator);
    const { secret } = await setUpApp(service, first);
    const passkey = await setUpPasskey(service, first);
    const byPasskey = newBrowserAt(service);
    await logInWith(passkey, byPasskey);
    expect(await locationOf(byPasskey)).toEqual([200, null]);
    const byCode = newBrowserAt(service);
    await givePassword(byCode, operator);
    expect(await locationOf(byCode)).toEqual([302, '/login?return_to=%2Fadmin%2Fconsole']);
    await giveCode(byCode, codeOf(secret));
    expect(await locationOf(byCode)).toEqual([200, null]);
  });

  it('asks an operator with passkeys alone for one after the password', async () => {
    const passkey = await setUpPasskey(service, await service.make.signedIn(operator));
    const browser = newBrowserAt(service);
    const step = await givePassword(browser, operator, CONSOLE);
    expect(step.headers.get('location')).toBe('/login/second-factor?return_to=%2Fadmin%2Fconsole');
    const page = await browser.open(step.headers.get('location')!);
    expect(page.html.querySelector('[data-passkey-sign-in]')!.getAttribute('data-return-to')).toBe(CONSOLE);
    expect((await logInWith(passkey, browser, {}, CONSOLE)).json).toEqual({ location: CONSOLE });
  });

  it('does not take recovery codes by themselves for a factor', async () => {
    await setUpPasskey(service, await service.make.signedIn(operator));
    // No page leaves it like this.
    await service.database.query('DELETE FROM passkeys WHERE user_id = $1', [operator.id]);
    const browser = newBrowserAt(service);
    expect((await givePassword(browser, operator, CONSOLE)).headers.get('location')).toBe(CONSOLE);
    expect(await locationOf(browser)).toEqual([303, SECURITY]);
    expect((await browser.open(SECURITY)).text).not.toContain('Recovery codes');
    expect((await browser.open('/account/security/passkeys/new')).status).toBe(200);
  });

  it('does not open it to a session of an account with a factor that was never given in it', async () => {
    const [before, adding] = [await service.make.signedIn(operator), await service.make.signedIn(operator)];
    const { secret } = await setUpApp(service, adding);
    const confirm = '/account/confirm?return_to=%2Fadmin%2Fconsole%2Fusers';
    expect(await locationOf(before, `${CONSOLE}/users`)).toEqual([303, confirm]);
    // Nor can it add a factor of its own to get there.
    expect(await locationOf(before, `${SECURITY}/passkeys/new`)).toEqual([
      303,
      '/account/confirm?return_to=%2Faccount%2Fsecurity%2Fpasskeys%2Fnew',
    ]);
    const page = await before.open(confirm);
    const step = await before.submit(page, '/account/confirm', { password: PASSWORD });
    expect(await locationOf(before)).toEqual([303, '/account/confirm?return_to=%2Fadmin%2Fconsole']);
    const done = await giveCode(before, codeOf(secret), step.headers.get('location')!);
    expect(done.headers.get('location')).toBe(`${CONSOLE}/users`);
    expect(await locationOf(before)).toEqual([200, null]);
  });

  it('takes a login by a provider as it is', async () => {
    const browser = await service.make.signedIn(operator);
    await service.database.query(
      "UPDATE sessions SET method = 'provider', provider = 'p', provider_subject = 's' WHERE user_id = $1",
      [operator.id],
    );
    expect(await locationOf(browser)).toEqual([200, null]);
  });

  it('keeps the console open after the password was confirmed there', async () => {
    const browser = await service.make.signedIn(operator);
    await setUpApp(service, browser);
    await browser.fillIn(`${CONSOLE}/confirm-password`, { password: PASSWORD });
    expect(await locationOf(browser)).toEqual([200, null]);
  });

  it('takes a passkey where the console asks for the password again', async () => {
    const browser = await service.make.signedIn(operator);
    const passkey = await setUpPasskey(service, browser);
    await service.make.ageSessions(operator);
    const path = `${CONSOLE}/users/${operator.id}/revoke`;
    const [, confirm] = await locationOf(browser, path);
    expect(confirm).toContain(`${CONSOLE}/confirm-password`);
    const button = (await browser.open(confirm as string)).html.querySelector('[data-passkey-sign-in]')!;
    expect(button.getAttribute('data-return-to')).toBe(path);
    expect((await logInWith(passkey, browser, {}, path)).json).toEqual({ location: path });
    expect(await locationOf(browser, path)).toEqual([200, null]);
  });

  it('refuses to remove the last factor, of which there is one left even if two are removed at the same time', async () => {
    const browser = await service.make.signedIn(operator);
    await setUpPasskey(service, browser);
    await setUpApp(service, browser);
    const id = await passkeyOf(operator);
    const paths = [`${SECURITY}/app/remove`, `${SECURITY}/passkeys/${id}/remove`];
    const pages = await Promise.all(paths.map((path) => browser.open(path)));
    expect(pages[0]!.text).not.toContain('Your password alone');
    const answers = await Promise.all(paths.map((path, n) => browser.submit(pages[n]!, path)));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 409]);
    const refused = answers.find(({ status }) => status === 409)!;
    expect(refused.text).toContain('Add another one first');
    const left = await service.database.query(
      'SELECT user_id FROM passkeys WHERE user_id = $1 UNION ALL SELECT user_id FROM authenticator_apps WHERE user_id = $1',
      [operator.id],
    );
    expect(left.length).toBe(1);
    expect(await locationOf(browser)).toEqual([200, null]);
  });

  it('asks nothing more of users', async () => {
    const user = await service.make.user();
    await setUpPasskey(service, await service.make.signedIn(user));
    expect((await givePassword(newBrowserAt(service), user)).headers.get('location')).toBe('/account');
    const browser = await service.make.signedIn(user);
    expect((await browser.open(CONSOLE)).status).toBe(403);
    const id = await passkeyOf(user);
    expect((await browser.fillIn(`${SECURITY}/passkeys/${id}/remove`)).status).toBe(303);
  });

  describe('recovery codes', () => {
    const CODES = `${SECURITY}/recovery-codes`;
    const user = madeForEach(() => service.make.user());
    const browser = madeForEach(() => service.make.signedIn(user));

    const kept = async (of = user): Promise<number> =>
      (await service.database.query('SELECT 1 FROM recovery_codes WHERE user_id = $1', [of.id])).length;
    const removeApp = async () =>
      browser.submit(await browser.open(`${SECURITY}/app/remove`), `${SECURITY}/app/remove`);

    it('are neither shown nor kept for someone with a passkey alone', async () => {
      const { codes } = await addPasskey(browser, service.url);
      expect([codes, await kept()]).toEqual([[], 0]);
      expect((await browser.open(SECURITY)).text).not.toContain('Recovery codes');
      expect((await browser.open(CODES)).html.querySelector(`form[action="${CODES}"]`)).toBeNull();
    });

    it('are not made for someone with a passkey alone', async () => {
      await setUpApp(service, browser);
      await setUpPasskey(service, browser);
      const form = await browser.open(CODES);
      await removeApp();
      expect((await browser.submit(form, CODES)).status).toBe(409);
      expect(await kept()).toBe(0);
    });

    it('are made with an app, also beside a passkey that was there before', async () => {
      await setUpPasskey(service, browser);
      const { codes } = await setUpApp(service, browser);
      expect([codes.length, await kept()]).toEqual([10, 10]);
    });

    it('stay when the app is replaced, and when a passkey is removed', async () => {
      const { codes } = await setUpApp(service, browser);
      expect([(await setUpApp(service, browser, 0)).codes, await kept()]).toEqual([[], codes.length]);
      await setUpPasskey(service, browser);
      const [passkey] = await service.database.query<{ id: string }>(
        'SELECT id FROM passkeys WHERE user_id = $1',
        [user.id],
      );
      const path = `${SECURITY}/passkeys/${passkey!.id}/remove`;
      const page = await browser.open(path);
      expect(page.html.querySelector('main')!.text).not.toContain('recovery codes');
      await browser.submit(page, path);
      expect(await kept()).toBe(10);
    });

    it('are made anew by a form that a second click does not send again', async () => {
      await setUpApp(service, browser);
      const page = await browser.open(CODES);
      expect(page.html.querySelector(`form[action="${CODES}"]`)!.hasAttribute('data-once')).toBe(true);
      expect(page.html.querySelector('script[src="/assets/page.js"]')).not.toBeNull();
    });

    it('are removed with the app although a passkey is left, which the page says before', async () => {
      await setUpApp(service, browser);
      await setUpPasskey(service, browser);
      const page = await browser.open(`${SECURITY}/app/remove`);
      expect(page.html.querySelector('main')!.text).toContain('Your recovery codes are removed too.');
      await removeApp();
      expect(await kept()).toBe(0);
    });

    it('are not asked for after the password of an operator with a passkey alone', async () => {
      const operator = await service.make.user({ role: 'operator' });
      const passkey = await setUpPasskey(service, await service.make.signedIn(operator));
      const other = newBrowserAt(service);
      const page = await other.open((await givePassword(other, operator)).headers.get('location')!);
      expect(page.html.querySelector('main')!.text).not.toMatch(/recovery code/i);
      expect(page.html.querySelector('input[name="code"]')).toBeNull();
      expect(page.html.querySelector('[data-without-passkeys]')!.text).toContain('Ask an admin');
      expect((await logInWith(passkey, other)).status).toBe(200);
    });

    it('still log in with an app', async () => {
      const { codes } = await setUpApp(service, browser);
      const other = newBrowserAt(service);
      await givePassword(other, user);
      expect((await giveCode(other, codes[0]!)).status).toBe(303);
      expect(await kept()).toBe(9);
    });
  });
});
