import { UsersService } from '#access/users/accounts/users.service.js';
import { loadSettings } from '#platform/config/settings.js';
import { newSecret } from '#platform/secrets/tokens.js';
import { auditEventsOn } from '../support/audit-events.js';
import { BrowserSession, type Page, TEST_ENCRYPTION_KEY, useSharedServiceWithMail } from '../support/spec.js';
import { withSettings } from '../support/changed-settings.js';
import { newAddress } from '../support/rate-limits.js';

const PASSWORD = 'a new long password';
const PATH = '/sign-up';

describe('Signing up', () => {
  const { service, smtp } = useSharedServiceWithMail();
  let email: string;
  let counter = 0;

  beforeEach(() => (email = `driver${++counter}@mail.example`));

  const newBrowser = (): BrowserSession =>
    new BrowserSession(service.url, { 'x-forwarded-for': newAddress() });
  const ask = async (address = email): Promise<Page> => {
    const browser = newBrowser();
    return browser.fillIn(PATH, { email: address });
  };
  const newLink = async (n = 1): Promise<string> => {
    await ask();
    return new URL((await smtp.mailTo(email, n)).link).pathname;
  };
  const person = { name: 'Zoë Driver', password: PASSWORD, password_again: PASSWORD };
  const create = async (link: string, fields: Record<string, string> = person): Promise<Page> => {
    const browser = newBrowser();
    return browser.fillIn(link, fields);
  };

  it('begins on the login page and makes an account with a verified address, by a link that works once', async () => {
    const login = await newBrowser().open('/login');
    expect(login.html.querySelector(`a[href="${PATH}"]`)!.text).toBe('Create an account');
    const link = await newLink();
    expect((await smtp.mailTo(email)).subject).toBe('Create your account');
    const page = await newBrowser().open(link);
    expect([page.status, page.headers.get('referrer-policy')]).toEqual([200, 'strict-origin']);
    expect(page.html.querySelector('input[autocomplete="username"]')!.getAttribute('value')).toBe(email);
    expect((await create(link)).status).toBe(200);
    const user = (await service.app.get(UsersService).findByEmail(email))!;
    expect(user).toMatchObject({ name: 'Zoë Driver', kind: 'individual', role: 'user', enabled: true });
    expect(user.emailVerifiedAt).toBeInstanceOf(Date);
    await service.make.signedIn(user, PASSWORD);
    expect((await newBrowser().open(link)).status).toBe(410);
    expect(await auditEventsOn(service, user.id, 'user.')).toMatchObject([
      { action: 'user.created', actor_type: 'user', actor_id: user.id },
    ]);
  });

  it('gets the same answer with an address that has an account, whose owner gets a mail that says so', async () => {
    const user = await service.make.user();
    const [known, unknown] = [await ask(user.email), await ask()];
    expect(known.text.replaceAll(user.email, '@@')).toBe(unknown.text.replaceAll(email, '@@'));
    const mail = await smtp.mailTo(user.email);
    expect(mail.subject).toBe('You already have an account');
    expect(new URL(mail.link).pathname).toMatch(/^\/password\/cds_pw_/);
    expect((await smtp.mailTo(email)).subject).toBe('Create your account');
  });

  it('refuses what is wrong beside its field, and the link stays usable', async () => {
    const link = await newLink();
    for (const [id, fields] of [
      ['name', { name: ' ' }],
      ['name', { name: 'a\u202eb' }],
      ['password', { password: 'short', password_again: 'short' }],
      ['password-again', { password_again: `${PASSWORD}!` }],
    ] as const) {
      const page = await create(link, { ...person, ...fields });
      expect(page.status).toBe(400);
      expect(page.html.querySelector(`#${id}`)!.getAttribute('aria-invalid')).toBe('true');
      expect(page.text).not.toContain(PASSWORD);
    }
    expect((await create(link)).status).toBe(200);
  });

  it('expires after exactly 24 hours', async () => {
    const link = await newLink();
    const age = (seconds: number): Promise<unknown> =>
      service.database.query(
        'UPDATE email_links SET expires_at = expires_at - make_interval(secs => $1) WHERE email = $2',
        [seconds, email],
      );
    await age(86_400 - 60);
    const browser = newBrowser();
    const page = await browser.open(link);
    expect(page.status).toBe(200);
    await age(60);
    expect((await browser.submit(page, link, person)).status).toBe(410);
    expect((await newBrowser().open(link)).status).toBe(410);
  });

  it('makes one account, whatever is posted at once', async () => {
    const links = [await newLink(), await newLink(2)];
    const browsers = [0, 0, 1, 1].map((n) => ({ browser: newBrowser(), link: links[n]! }));
    const pages = await Promise.all(browsers.map(({ browser, link }) => browser.open(link)));
    const answers = await Promise.all(
      browsers.map(({ browser, link }, n) => browser.submit(pages[n]!, link, person)),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.every((status) => [200, 409, 410].includes(status))).toBe(true);
    // Whoever comes too late is told that there is an account.
    expect(await newLink(3).catch(() => undefined)).toMatch(/^\/password\//);
  });

  const NEEDED = { NODE_ENV: 'test', DATABASE_URL: 'postgres://h/x', ENCRYPTION_KEY: TEST_ENCRYPTION_KEY };

  it('is off by default', async () => {
    const { signUp } = await loadSettings({ ...NEEDED, ...smtp.env });
    expect(signUp).toBe(false);
    await withSettings(service, { signUp }, async () => {
      const browser = newBrowser();
      expect((await browser.open(PATH)).status).toBe(404);
      const link = `${PATH}/${newSecret('signUpKey')}`;
      expect((await browser.open(link)).status).toBe(404);
      const options = await browser.open(`${link}/passkey/options`, { method: 'POST', json: {} });
      expect(options.status).toBe(404);
      expect((await browser.open('/login')).html.querySelector(`a[href="${PATH}"]`)).toBeNull();
    });
  });

  it('cannot be switched on without mail', async () => {
    await expect(loadSettings({ ...NEEDED, SIGN_UP: 'true' })).rejects.toThrow(
      'SIGN_UP can only be true with mail and passwords: it needs SMTP_URL and MAIL_FROM to be set',
    );
  });
});
