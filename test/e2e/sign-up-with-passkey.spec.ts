import { UsersService } from '#access/users/accounts/users.service.js';
import { newSecret } from '#platform/secrets/tokens.js';
import { auditEventsOn } from '../support/audit-events.js';
import { BrowserSession, type Page, postedAnew } from '../support/browser-session.js';
import { setUpPasskey } from '../support/factors-without-pages.js';
import { type HttpOptions, useSharedServiceWithMail } from '../support/spec.js';
import { postPasskey, signUpLink, signUpOptions, signUpWithPasskey } from '../support/passkey-sign-ups.js';
import { newAddress } from '../support/rate-limits.js';
import { isSignedIn, logInWith, openNewPasskey, passkeyOptions } from '../support/second-factors.js';
import { SoftwarePasskey } from '../support/software-passkey.js';

const PASSWORD = 'a new long password';
const WRONG_ANSWER =
  'Your account was not created, because your browser’s answer was not right. Try again, or choose a password.';

describe('Signing up with a passkey', () => {
  const { service, smtp } = useSharedServiceWithMail();
  let email: string;
  let counter = 0;

  beforeEach(() => (email = `keyholder${++counter}@mail.example`));

  const newBrowser = (url = service.url): BrowserSession =>
    new BrowserSession(url, { 'x-forwarded-for': newAddress() });
  const newLink = (n = 1): Promise<string> => signUpLink(newBrowser(), smtp, email, n);
  const found = () => service.app.get(UsersService).findByEmail(email);
  const isOpen = async (link: string): Promise<boolean> => (await newBrowser().open(link)).status === 200;

  it('makes an account without a password, with a verified address, and the passkey logs in', async () => {
    const link = await newLink();
    const browser = newBrowser();
    const { passkey, page } = await signUpWithPasskey(browser, link, service.url);
    expect([page.status, page.html.querySelector('h1')!.text]).toEqual([
      200,
      'Your account has been created',
    ]);
    expect(page.text).toContain('You can log in now, with your passkey.');
    expect(await isSignedIn(browser)).toBe(false);
    const user = (await found())!;
    expect(user).toMatchObject({ name: 'Zoë Driver', kind: 'individual', role: 'user', enabled: true });
    expect(user.emailVerifiedAt).toBeInstanceOf(Date);
    const [row] = await service.database.query<{ password_hash: null; passkeys: string; codes: string }>(
      `SELECT password_hash, (SELECT count(*) FROM passkeys WHERE user_id = u.id) AS passkeys,
              (SELECT count(*) FROM recovery_codes WHERE user_id = u.id) AS codes FROM users u WHERE id = $1`,
      [user.id],
    );
    expect(row).toEqual({ password_hash: null, passkeys: '1', codes: '0' });
    expect((await logInWith(passkey, browser)).status).toBe(200);
    expect(await isSignedIn(browser)).toBe(true);
  });

  it('is told of and recorded as other passkeys are', async () => {
    await signUpWithPasskey(newBrowser(), await newLink(), service.url);
    const user = (await found())!;
    expect((await smtp.mailTo(email, 2)).subject).toBe('You added a passkey');
    const actor = { actor_type: 'user', actor_id: user.id };
    expect(await auditEventsOn(service, user.id)).toMatchObject([
      { action: 'user.created', ...actor },
      { action: 'user.passkey_added', ...actor },
    ]);
  });

  it('asks the browser for a passkey of the new account, which can be found without its address', async () => {
    const options = await signUpOptions(newBrowser(), await newLink());
    expect(options).toMatchObject({
      rp: { id: '127.0.0.1' },
      user: { name: email },
      excludeCredentials: [],
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
    expect(Buffer.from(options.user.id, 'base64url').toString()).toMatch(/^user[0-9A-Z]{26}$/);
  });

  it('is offered on the page, which says without a script that it takes a password', async () => {
    const page = await newBrowser().open(await newLink());
    expect(page.html.querySelector('[data-without-passkeys]')!.text).toContain('Choose a password.');
    const offer = page.html.querySelector('[data-passkey-sign-up]')!;
    expect([offer.hasAttribute('hidden'), offer.querySelector('button')!.text.trim()]).toEqual([
      true,
      'Use a passkey instead',
    ]);
  });

  describe('is refused, makes no account, and leaves the link usable,', () => {
    const expectRefused = async (page: Page, link: string) => {
      expect([page.status, page.html.querySelector('.notice-error')!.text]).toEqual([400, WRONG_ANSWER]);
      expect(await found()).toBeNull();
      expect(await isOpen(link)).toBe(true);
    };

    // Every kind of wrong answer: test/e2e/passkeys.spec.ts.
    it('from another origin', async () => {
      const link = await newLink();
      const { page } = await signUpWithPasskey(newBrowser(), link, service.url, {
        origin: 'https://evil.example',
      });
      await expectRefused(page, link);
      expect((await signUpWithPasskey(newBrowser(), link, service.url)).page.status).toBe(200);
    });

    it('with what is no answer', async () => {
      const link = await newLink();
      const browser = newBrowser();
      for (const response of ['{}', 'not JSON']) {
        await signUpOptions(browser, link);
        await expectRefused(await postPasskey(browser, link, response), link);
      }
    });

    it('without a challenge, in another browser, and with the challenge of another link', async () => {
      const [link, asking] = [await newLink(), newBrowser()];
      const passkey = new SoftwarePasskey(service.url);
      const response = passkey.create(await signUpOptions(asking, link));
      const other = newBrowser();
      await expectRefused(await postPasskey(other, link, response), link);
      await signUpOptions(other, link);
      await expectRefused(await postPasskey(other, link, response), link);
      const second = await newLink(2);
      await expectRefused(await postPasskey(asking, second, response), second);
    });

    it('with the challenge of a login, and with that of someone who adds a passkey', async () => {
      const link = await newLink();
      const browser = await service.make.signedIn(await service.make.user());
      const login = await passkeyOptions(browser);
      const { options: added } = await openNewPasskey(browser);
      const mine = await signUpOptions(browser, link);
      const [userId] = browser.cookies.get('cds_passkey_sign_up')!.split('.');
      const passkey = new SoftwarePasskey(service.url);
      for (const [name, { challenge }] of [
        ['passkey_sign_in', login],
        ['passkey_new', added],
      ] as const) {
        browser.cookies.set('cds_passkey_sign_up', `${userId}.${browser.cookies.get(name)!}`);
        await expectRefused(await postPasskey(browser, link, passkey.create({ ...mine, challenge })), link);
      }
    });

    it('with a challenge for another account', async () => {
      const link = await newLink();
      const browser = newBrowser();
      const options = await signUpOptions(browser, link);
      const [userId, secret] = browser.cookies.get('cds_passkey_sign_up')!.split('.');
      const other = userId!.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
      browser.cookies.set('cds_passkey_sign_up', `${other}.${secret}`);
      const response = new SoftwarePasskey(service.url).create(options);
      await expectRefused(await postPasskey(browser, link, response), link);
    });

    it('after five minutes', async () => {
      const link = await newLink();
      const browser = newBrowser();
      const response = new SoftwarePasskey(service.url).create(await signUpOptions(browser, link));
      await service.database.query("UPDATE webauthn_challenges SET expires_at = now() - interval '1 second'");
      await expectRefused(await postPasskey(browser, link, response), link);
    });

    it('again with a challenge that a wrong answer has used up', async () => {
      const link = await newLink();
      const browser = newBrowser();
      const options = await signUpOptions(browser, link);
      const cookie = browser.cookies.get('cds_passkey_sign_up')!;
      await expectRefused(await postPasskey(browser, link, '{}'), link);
      browser.cookies.set('cds_passkey_sign_up', cookie);
      const response = new SoftwarePasskey(service.url).create(options);
      await expectRefused(await postPasskey(browser, link, response), link);
    });

    it('with a passkey that belongs to an account already', async () => {
      const owner = await service.make.signedIn(await service.make.user());
      const passkey = await setUpPasskey(service, owner);
      const link = await newLink();
      const browser = newBrowser();
      const response = passkey.create(await signUpOptions(browser, link));
      await expectRefused(await postPasskey(browser, link, response), link);
    });
  });

  it('refuses a name that is missing, has hidden characters or is too long, beside the field', async () => {
    const link = await newLink();
    const browser = newBrowser();
    for (const name of ['', ' ', 'a\u202eb', 'x'.repeat(201)]) {
      const response = new SoftwarePasskey(service.url).create(await signUpOptions(browser, link));
      const page = await postPasskey(browser, link, response, name);
      expect(page.status).toBe(400);
      expect(page.html.querySelector('#name')!.getAttribute('aria-invalid')).toBe('true');
      expect(page.html.querySelector('#password')!.getAttribute('aria-invalid')).not.toBe('true');
    }
    expect(await isOpen(link)).toBe(true);
  });

  it('uses the link up, for a passkey and for a password', async () => {
    const link = await newLink();
    const browser = newBrowser();
    const page = await browser.open(link);
    await signUpWithPasskey(newBrowser(), link, service.url);
    expect((await browser.open(`${link}/passkey/options`, { method: 'POST', json: {} })).status).toBe(410);
    const person = { name: 'Zoë Driver', password: PASSWORD, password_again: PASSWORD };
    expect((await browser.submit(page, link, person)).status).toBe(410);
    expect((await browser.submit(page, link, { name: 'Zoë', response: '{}' })).status).toBe(410);
  });

  it('says the same of every link that does not work', async () => {
    const answers = await Promise.all(
      ['x', newSecret('emailKey'), newSecret('signUpKey')].map((key) =>
        newBrowser().open(`/sign-up/${key}/passkey/options`, { method: 'POST', json: {} }),
      ),
    );
    for (const { status, json } of answers) {
      expect([status, json]).toEqual([
        410,
        { status: 410, title: 'Gone', detail: 'This link no longer works. Ask for a new one.' },
      ]);
    }
  });

  it('refuses the options to a form, and to a request of another site', async () => {
    const path = `${await newLink()}/passkey/options`;
    const post = async (options: HttpOptions) =>
      (await newBrowser().open(path, { method: 'POST', ...options })).status;
    expect([
      await post({ form: {} }),
      await post({ json: {}, headers: { origin: 'https://evil.example' } }),
    ]).toEqual([415, 403]);
  });

  it('posted twice with one answer makes one account', async () => {
    const link = await newLink();
    const browser = newBrowser();
    const response = new SoftwarePasskey(service.url).create(await signUpOptions(browser, link));
    const page = await browser.open(link);
    const kept = new Map(browser.cookies);
    expect((await browser.submit(page, link, { name: 'Zoë', response })).status).toBe(200);
    kept.forEach((value, name) => browser.cookies.set(name, value));
    expect((await browser.submit(page, link, { name: 'Zoë', response, ...postedAnew() })).status).toBe(410);
  });
});
