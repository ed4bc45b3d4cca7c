import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { BrowserSession, csrfTokenOn, type Page, until, useServiceWithMail } from '../support/spec.js';
import type { ReceivedMail } from '../support/mail-server.js';
import { signUpLink, signUpOptions } from '../support/passkey-sign-ups.js';
import { newAddress } from '../support/rate-limits.js';
import { setUpApp, setUpPasskey } from '../support/factors-without-pages.js';
import {
  answerPasskey,
  isSignedIn,
  logInWith,
  newBrowserAt,
  passkeyOptions,
} from '../support/second-factors.js';
import { SoftwarePasskey } from '../support/software-passkey.js';

const PASSWORD = 'a new long password';

/** One that nobody goes to. */
const provider = (id: string, audience: 'users' | 'operators', path = id) => ({
  id,
  label: id,
  issuer: `http://127.0.0.1:1/${path}`,
  client_id: 'x',
  client_secret: 'x'.repeat(32),
  audience: [audience],
  accounts: 'linked',
});

describe('An account without a password', () => {
  const { service, smtp } = useServiceWithMail({
    env: {
      SIGN_UP: 'true',
      TRUSTED_PROXIES: '127.0.0.1',
      SECOND_FACTOR_FOR_OPERATORS: 'true',
      IDENTITY_PROVIDERS: JSON.stringify([
        provider('company', 'users'),
        provider('staff', 'operators'),
        provider('company-staff', 'operators', 'company'),
      ]),
    },
    instances: 2,
  });
  let email: string;
  let counter = 0;
  beforeEach(() => (email = `keyholder${++counter}@mail.example`));

  const newBrowser = (url = service.url) => new BrowserSession(url, { 'x-forwarded-for': newAddress() });
  const withPasskey = async () => {
    const user = await service.make.user({ email, emailVerified: true });
    const adding = await service.make.signedIn(user);
    const passkey = await setUpPasskey(service, adding);
    // As after a sign-up with a passkey.
    await service.database.query('UPDATE users SET password_hash = NULL WHERE id = $1', [user.id]);
    return { user, passkey, adding };
  };
  const signedIn = async (passkey: SoftwarePasskey) => {
    const browser = newBrowserAt(service);
    expect((await logInWith(passkey, browser)).status).toBe(200);
    return browser;
  };
  const longAgo = (user: UserEntity) => service.make.ageSessions(user);
  const idOf = (user: UserEntity) =>
    service.database.value<string>('SELECT id FROM passkeys WHERE user_id = $1 ORDER BY id', [user.id]);

  it('is opened by no password', async () => {
    await withPasskey();
    for (const password of ['', 'null', PASSWORD]) {
      const browser = newBrowser();
      const page = await browser.submit(await browser.open('/login'), '/login', { email, password });
      expect(page.status).not.toBe(303);
      expect(await isSignedIn(browser)).toBe(false);
    }
  });

  it('gets a password by the link for a forgotten one, and keeps its passkey', async () => {
    const { user, passkey } = await withPasskey();
    const browser = await signedIn(passkey);
    const page = await browser.open('/account/password');
    expect(page.text).toContain('You have no password');
    expect(page.html.querySelector('main a[href="/password/forgotten"]')).not.toBeNull();
    const asking = newBrowser();
    await asking.submit(await asking.open('/password/forgotten'), '/password/forgotten', { email });
    // Mails that are sent at the same time arrive in any order.
    const isAsked = ({ subject }: ReceivedMail) => subject === 'Set a new password';
    await until('the mail with the link has arrived', () => smtp.to(email).some(isAsked));
    const link = new URL(smtp.to(email).find(isAsked)!.link).pathname;
    const fields = { password: PASSWORD, password_again: PASSWORD };
    expect((await asking.submit(await asking.open(link), link, fields)).status).toBe(200);
    expect(await isSignedIn(browser)).toBe(false);
    await service.make.signedIn(user, PASSWORD);
    const again = await signedIn(passkey);
    expect((await again.open('/account/password')).html.querySelector('#current-password')).not.toBeNull();
  });

  it('is asked for the passkey, not for a password, before its factors change', async () => {
    const { user, passkey } = await withPasskey();
    const browser = await signedIn(passkey);
    await longAgo(user);
    const asked = await browser.open('/account/security/passkeys/new');
    const path = '/account/confirm?return_to=%2Faccount%2Fsecurity%2Fpasskeys%2Fnew';
    expect([asked.status, asked.headers.get('location')]).toEqual([303, path]);
    const page = await browser.open(path);
    expect(page.html.querySelector('input[type=password]')).toBeNull();
    expect(page.html.querySelector('[data-passkey-sign-in] button')!.text).toBe('Use a passkey');
    const response = passkey.get(await passkeyOptions(browser));
    const answer = await answerPasskey(browser, response, '/account/security/passkeys/new');
    expect(answer.json).toEqual({ location: '/account/security/passkeys/new' });
    expect((await browser.open('/account/security/passkeys/new')).status).toBe(200);
  });

  it('keeps its last passkey until there is another way in', async () => {
    const { user, passkey } = await withPasskey();
    const browser = await signedIn(passkey);
    const path = `/account/security/passkeys/${await idOf(user)}/remove`;
    const refused = await browser.submit(await browser.open(path), path);
    expect([refused.status, refused.html.querySelector('main p')!.text]).toEqual([
      409,
      'This passkey is the only way to log in to your account. Add another one or set a password first, then remove this one.',
    ]);
    await signedIn(passkey);
    // An app is asked for after a password: by itself it lets nobody in.
    const { codes } = await setUpApp(service, browser);
    expect(codes).toHaveLength(10);
    expect((await browser.submit(await browser.open(path), path)).status).toBe(409);
    await setUpPasskey(service, browser);
    expect((await browser.submit(await browser.open(path), path)).status).toBe(303);
  });

  const link = (provider: string) =>
    `INSERT INTO identities (issuer, subject, user_id, provider) VALUES ('https://id.example', $1, $1, '${provider}')`;

  it.each([
    ['a password', "UPDATE users SET password_hash = 'x' WHERE id = $1", 303],
    ['a link to a provider', link('company'), 303],
    ['a link to a provider for operators', link('staff'), 409],
    ['a link to one for operators with the same client as one for users', link('company-staff'), 303],
    ['a link to a provider that is no longer there', link('gone'), 409],
  ])('with %s answers the removal of its last passkey', async (_what, statement, status) => {
    const { user, adding: browser } = await withPasskey();
    await service.database.query(statement, [user.id]);
    const path = `/account/security/passkeys/${await idOf(user)}/remove`;
    expect((await browser.submit(await browser.open(path), path)).status).toBe(status);
  });

  it('is not sent to a provider for operators to confirm who it is, but to one that admits it', async () => {
    const { user, passkey } = await withPasskey();
    const browser = await signedIn(passkey);
    await longAgo(user);
    const submit = async () => {
      const page = await browser.open('/account/confirm');
      return page.html.querySelector('form[action="/account/confirm"] button')?.text;
    };
    await service.database.query(link('staff'), [user.id]);
    expect(await submit()).toBeUndefined();
    await service.database.query(link('company').replace('id.example', 'company.example'), [user.id]);
    expect(await submit()).toBe('Continue with company');
  });

  it('is made once, whatever is posted at once on two instances', async () => {
    const links = [
      await signUpLink(newBrowser(), smtp, email),
      await signUpLink(newBrowser(), smtp, email, 2),
    ];
    const posts = await Promise.all(
      [0, 0, 1, 1].map(async (n, index) => {
        const [link, browser] = [links[n]!, newBrowser()];
        const response = new SoftwarePasskey(service.url).create(await signUpOptions(browser, link));
        const csrf_token = csrfTokenOn(await browser.open(link));
        const elsewhere = newBrowser(service.instances[index % 2]!.url);
        browser.cookies.forEach((value, name) => elsewhere.cookies.set(name, value));
        const form = { csrf_token, response, name: 'Zoë Driver' };
        return () => elsewhere.open(link, { form, headers: { origin: service.url } });
      }),
    );
    const statuses = (await Promise.all(posts.map((post) => post()))).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.every((status) => [200, 409, 410].includes(status))).toBe(true);
    const [row] = await service.database.query<{ passkeys: string }>(
      'SELECT count(*) AS passkeys FROM passkeys p JOIN users u ON u.id = p.user_id WHERE u.email = $1',
      [email],
    );
    expect(row).toEqual({ passkeys: '1' });
  });

  it('keeps one of two passkeys, whatever is removed at once on two instances', async () => {
    const { user, passkey } = await withPasskey();
    const browser = await signedIn(passkey);
    await setUpPasskey(service, browser);
    const ids = await service.database.column<string>('SELECT id FROM passkeys WHERE user_id = $1', [
      user.id,
    ]);
    const pages: { path: string; page: Page }[] = [];
    for (const path of ids.map((id) => `/account/security/passkeys/${id}/remove`))
      pages.push({ path, page: await browser.open(path) });
    const answers = await Promise.all(
      pages.map(({ path, page }, n) => {
        const elsewhere = new BrowserSession(service.instances[n]!.url);
        browser.cookies.forEach((value, name) => elsewhere.cookies.set(name, value));
        const csrf_token = csrfTokenOn(page, path);
        return elsewhere.open(path, { form: { csrf_token }, headers: { origin: service.url } });
      }),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 409]);
  });

  it('of an operator who needs a second factor opens the console with its passkey', async () => {
    const { user, passkey } = await withPasskey();
    // With the role that it gains, the passkey would end.
    await service.database.query(
      "UPDATE users SET role = 'operator', operator_role = 'support' WHERE id = $1",
      [user.id],
    );
    const browser = await signedIn(passkey);
    expect((await browser.open('/admin/console')).status).toBe(200);
    await longAgo(user);
    const page = await browser.open('/admin/console/confirm-password?return_to=%2Fadmin%2Fconsole');
    expect(page.html.querySelector('input[type=password]')).toBeNull();
    expect(page.html.querySelector('[data-passkey-sign-in]')).not.toBeNull();
  });
});
