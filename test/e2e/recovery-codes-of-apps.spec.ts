import {
  addApp,
  addPasskey,
  giveCode,
  givePassword,
  logInWith,
  newBrowserAt,
} from '../support/second-factors.js';
import { madeForEach } from '../support/made.js';
import { useService } from '../support/test-service.js';

const SECURITY = '/account/security';
const CODES = `${SECURITY}/recovery-codes`;

describe('Recovery codes', () => {
  const service = useService({ env: { SECOND_FACTOR_FOR_OPERATORS: 'true' }, hostname: 'localhost' });
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
    const page = await browser.open(CODES);
    expect(page.html.querySelector(`form[action="${CODES}"]`)).toBeNull();
  });

  it('are not made for someone with a passkey alone', async () => {
    await addApp(browser);
    await addPasskey(browser, service.url);
    const form = await browser.open(CODES);
    await removeApp();
    expect((await browser.submit(form, CODES)).status).toBe(409);
    expect(await kept()).toBe(0);
  });

  it('are made with an app, also beside a passkey that was there before', async () => {
    await addPasskey(browser, service.url);
    const { codes } = await addApp(browser);
    expect([codes.length, await kept()]).toEqual([10, 10]);
  });

  it('stay when the app is replaced, and when a passkey is removed', async () => {
    const { codes } = await addApp(browser);
    const again = await addApp(browser, 0);
    expect([again.codes, await kept()]).toEqual([[], codes.length]);
    await addPasskey(browser, service.url);
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
    await addApp(browser);
    const page = await browser.open(CODES);
    expect(page.html.querySelector(`form[action="${CODES}"]`)!.hasAttribute('data-once')).toBe(true);
    expect(page.html.querySelector('script[src="/assets/page.js"]')).not.toBeNull();
  });

  it('are removed with the app although a passkey is left, which the page says before', async () => {
    await addApp(browser);
    await addPasskey(browser, service.url);
    const page = await browser.open(`${SECURITY}/app/remove`);
    expect(page.html.querySelector('main')!.text).toContain('Your recovery codes are removed too.');
    await removeApp();
    expect(await kept()).toBe(0);
  });

  it('are not asked for after the password of an operator with a passkey alone', async () => {
    const operator = await service.make.user({ role: 'operator' });
    const { passkey } = await addPasskey(await service.make.signedIn(operator), service.url);
    const other = newBrowserAt(service);
    const step = await givePassword(other, operator);
    const page = await other.open(step.headers.get('location')!);
    expect(page.html.querySelector('main')!.text).not.toMatch(/recovery code/i);
    expect(page.html.querySelector('input[name="code"]')).toBeNull();
    expect(page.html.querySelector('[data-without-passkeys]')!.text).toContain('Ask an admin');
    expect((await logInWith(passkey, other)).status).toBe(200);
  });

  it('still log in with an app', async () => {
    const { codes } = await addApp(browser);
    const other = newBrowserAt(service);
    await givePassword(other, user);
    expect((await giveCode(other, codes[0]!)).status).toBe(303);
    expect(await kept()).toBe(9);
  });
});
