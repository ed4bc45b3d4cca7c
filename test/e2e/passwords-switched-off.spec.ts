import type { FastifyReply, FastifyRequest } from 'fastify';
import { PasswordLinksService } from '#access/users/passwords/password-links.service.js';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { loadSettings } from '#platform/config/settings.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { CsrfService } from '#platform/http/forms/csrf.service.js';
import { MAIL_TEXTS } from '#records/mail/mail-texts.js';
import { MESSAGES } from '#records/notifications/message-catalogue.js';
import { NotificationsService } from '#records/notifications/notifications.service.js';
import { BrowserSession, leadsTo, type Page, PASSWORD, useServiceWithProvider } from '../support/spec.js';
import { setUpPasskey } from '../support/factors-without-pages.js';
import { IdentityProvider, PersonBrowser } from '../support/identity-provider.js';

describe('With PASSWORD_SIGN_IN=false', () => {
  const idp = new IdentityProvider();
  const providers = [{ audience: ['users', 'operators'] }];
  const service = useServiceWithProvider(idp, providers, { env: { PASSWORD_SIGN_IN: 'false' } });
  for (const sub of ['ada', 'olga', 'omar', 'pia'])
    idp.people.set(sub, { email: `${sub}@mail.example`, email_verified: true });

  /** Goes on from the login page to the only provider, and comes back. */
  const logIn = async (sub = 'ada', returnTo = '/account'): Promise<BrowserSession> => {
    const browser = new PersonBrowser(service.url, idp.url);
    const begun = await browser.service.open(`/login?return_to=${encodeURIComponent(returnTo)}`);
    expect(begun.status).toBe(200);
    const answer = await browser.service.open(await browser.answerOf(begun, sub));
    expect(answer.headers.get('location')).toBe(returnTo);
    return browser.service;
  };

  it('the login page leads on to the only provider, which leads to where the user wanted to go', async () => {
    const browser = await logIn('ada', '/account/sessions');
    expect((await browser.open('/account/sessions')).status).toBe(200);
  });

  it('the login page is shown, without a password, to a user who has just logged out or failed', async () => {
    const browser = await logIn();
    await browser.submit(await browser.open('/account'), '/logout');
    const page = await browser.open('/login');
    expect([page.status, page.html.querySelector('input[type=password]')]).toEqual([200, null]);
    const begun = await browser.submit(page, '/login/providers/company');
    expect([begun.status, leadsTo(begun)]).toEqual([200, expect.stringContaining(`${idp.url}/`)]);
    const other = new BrowserSession(service.url);
    expect((await other.open('/login/callback/company?state=unknown&code=1')).status).toBe(400);
    expect((await other.open('/login')).status).toBe(200);
  });

  it.each([
    ['came from a passkey', async () => ageSessions('passkey')],
    ['has ended already', async () => void (await service.database.query('DELETE FROM sessions'))],
  ])('the login page is shown also after logging out of a session that %s', async (_name, change) => {
    const browser = await logIn();
    const page = await browser.open('/account');
    await change();
    expect((await browser.submit(page, '/logout')).headers.get('location')).toBe('/login');
    expect((await browser.open('/login')).status).toBe(200);
  });

  it('POST /login answers 403', async () => {
    const user = await service.make.user();
    const browser = new BrowserSession(service.url);
    await browser.open('/login/callback/company');
    await browser.open('/login');
    // No page has this form any more: the test makes the token of a page that was shown before the switch.
    const request = { cookies: Object.fromEntries(browser.cookies) } as unknown as FastifyRequest;
    const csrf = service.app.get(CsrfService);
    const post = (csrf_token: string) =>
      browser.open('/login', {
        form: { csrf_token, email: user.email, password: PASSWORD },
        headers: { origin: service.url },
      });
    const headingOf = ({ html }: Page) => html.querySelector('h1')!.text;
    expect((await post('another token')).status).toBe(422);
    const answer = await post(csrf.tokenFor(request, {} as FastifyReply, 'login'));
    expect([answer.status, headingOf(answer)]).toEqual([403, 'This is not allowed']);
    expect(answer.html.text).toContain('Passwords are switched off.');
    expect(browser.cookies.has('cds_session')).toBe(false);
  });

  it('password links and changes of password answer 404, and nothing offers them', async () => {
    const url = await service.app
      .get(PasswordLinksService, { strict: false })
      .create((await service.make.user()).id, SERVICE_ACTOR);
    expect((await new BrowserSession(service.url).open(new URL(url).pathname)).status).toBe(404);
    const user = await service.make.user();
    const bearer = await service.make.adminToken();
    const link = await service.http.send(`/admin/users/${user.id}/password_links`, {
      method: 'POST',
      bearer,
    });
    expect(link.status).toBe(404);
    const browser = await logIn();
    expect((await browser.open('/account/password')).status).toBe(404);
    expect((await browser.open('/account')).html.text).not.toContain('Password');
    await logIn();
    const sessions = (await browser.open('/account/sessions')).html.text;
    expect(sessions).toContain('If one of these is not yours, log it out.');
    expect(sessions).not.toMatch(/password/i);
    await service.make.user({ email: 'olga@mail.example', role: 'operator' });
    const operator = await logIn('olga', '/admin/console');
    const page = await operator.open(`/admin/console/users/${user.id}`);
    expect(page.html.text).not.toContain('password link');
    const forNew = (await operator.open('/admin/console/users/new')).html.querySelector('main')!.text;
    expect(forNew).toContain('the person logs in through an identity provider');
    expect(forNew).not.toContain('create a link');
    // As if the provider had said that the login was just now.
    await service.database.query('UPDATE sessions SET authenticated_at = now() WHERE provider IS NOT NULL');
    const forRole = await operator.open(`/admin/console/users/${user.id}/make-operator`);
    expect([forRole.status, forRole.html.text.includes('password link')]).toEqual([200, false]);
  });

  it('nobody is told to change a password', async () => {
    const user = await service.make.user();
    const messages = [
      MESSAGES.newSignIn('192.0.2.1'),
      MESSAGES.secondFactorAdded('app'),
      MESSAGES.secondFactorReset(),
      MESSAGES.identityLinked('Example Company', false),
      MESSAGES.deletionRequested(new Date()),
      MESSAGES.deletionCancelled(),
      MESSAGES.applicationConnected('Example App'),
    ];
    const notifications = service.app.get(NotificationsService);
    await service.app.get(Transactions).run(async () => {
      for (const message of messages) await notifications.raise(user.id, null, message);
    });
    const stored = await service.database.query<{ body: string; messages: object }>(
      'SELECT detail_page_body AS body, messages FROM notifications WHERE user_id = $1',
      [user.id],
    );
    expect(stored).toHaveLength(messages.length);
    for (const { body, messages: texts } of stored) {
      expect([body, JSON.stringify(texts)]).not.toContainEqual(expect.stringMatching(/password/i));
      expect(body).toMatch(/tell us|log out all other sessions/i);
    }
    expect(JSON.stringify(MAIL_TEXTS.dataExport('https://example.com', false))).not.toMatch(/password/i);
  });

  /** As if every session had been started an hour ago, in this way. */
  const ageSessions = async (method: string): Promise<void> => {
    const past = "created_at = now() - interval '1 hour'";
    const from = 'provider = NULL, provider_subject = NULL, provider_sid = NULL, authenticated_at = NULL';
    const change = method === 'provider' ? '' : `, method = '${method}', ${from}`;
    await service.database.query(`UPDATE sessions SET ${past}${change}`);
  };

  /** Opens the page that asks, follows it to the provider as this person, and returns where the browser comes back to. */
  const confirmThere = async (browser: BrowserSession, path: string, sub: string) => {
    const asking = await browser.open(path);
    expect(asking.status).toBe(303);
    const page = await browser.open(asking.headers.get('location')!);
    expect(page.html.querySelector('input[type=password]')).toBeNull();
    expect(page.html.text).toContain('Log in at Example Company again to continue.');
    expect(page.headers.get('content-security-policy')).toMatch(/form-action 'self'$/);
    const action = asking.headers.get('location')!.split('?')[0]!;
    const begun = await browser.submit(page, action, { password: PASSWORD });
    expect(new URL(leadsTo(begun)!).searchParams.get('max_age')).toBe('0');
    const callback = await new PersonBrowser(service.url, idp.url).answerOf(begun, sub);
    return (await browser.open(callback)).headers.get('location');
  };

  it.each([
    ['that came from the provider', 'provider'],
    ['with a password, of before the switch', 'password'],
    ['with a passkey', 'passkey'],
  ])(
    'whoever has to confirm a session %s goes to the provider, never to a password',
    async (_name, method) => {
      const path = '/account/security/passkeys/new';
      const browser = await logIn();
      await ageSessions(method);
      expect(await confirmThere(browser, path, 'ada')).toBe(path);
      expect((await browser.open(path)).status).toBe(200);
    },
  );

  it('an operator confirms at the provider also before a form that would ask for the password', async () => {
    const user = await service.make.user();
    await service.make.user({ email: 'omar@mail.example', role: 'operator' });
    const browser = await logIn('omar', '/admin/console');
    await ageSessions('passkey');
    const path = `/admin/console/users/${user.id}/edit`;
    expect(await confirmThere(browser, path, 'omar')).toBe(path);
    expect((await browser.open(path)).status).toBe(200);
  });

  it('whoever has no provider to go to is told to log in again', async () => {
    const browser = await logIn();
    await ageSessions('passkey');
    const path = '/account/confirm';
    const before = await browser.open(path);
    await service.database.query('DELETE FROM identities');
    const page = await browser.open(path);
    expect([page.status, page.html.querySelector(`form[action="${path}"]`)]).toEqual([200, null]);
    expect(page.html.text).toContain('log out and log in again');
    expect((await browser.submit(before, path, { password: PASSWORD })).status).toBe(400);
  });

  it('a password is no way in that would allow to remove the last passkey', async () => {
    const browser = await logIn('pia');
    // As if the provider had said that the login was just now.
    await service.database.query(
      `UPDATE sessions SET authenticated_at = now() FROM users u WHERE u.id = user_id AND u.email = 'pia@mail.example'`,
    );
    await setUpPasskey(service, browser);
    const [row] = await service.database.query<{ id: string; passkey: string }>(
      `UPDATE users u SET password_hash = 'x' FROM passkeys p WHERE u.email = 'pia@mail.example' AND p.user_id = u.id
       RETURNING u.id, p.id AS passkey`,
    );
    await service.database.query('DELETE FROM identities WHERE user_id = $1', [row!.id]);
    const path = `/account/security/passkeys/${row!.passkey}/remove`;
    const page = await browser.open(path);
    const refused = await browser.submit(page, path);
    expect([refused.status, refused.html.querySelector('main p')!.text]).toEqual([
      409,
      'This passkey is the only way to log in to your account. Add another one first, then remove this one.',
    ]);
    await setUpPasskey(service, browser);
    expect((await browser.submit(page, path)).status).toBe(303);
  });

  it('needs a provider', async () => {
    await expect(
      loadSettings({ NODE_ENV: 'test', DATABASE_URL: 'postgres://u:p@h/d', PASSWORD_SIGN_IN: 'false' }),
    ).rejects.toThrow('PASSWORD_SIGN_IN can be false only with IDENTITY_PROVIDERS');
  });
});
