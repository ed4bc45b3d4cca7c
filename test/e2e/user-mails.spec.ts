import { MESSAGES } from '#records/notifications/message-catalogue.js';
import { NotificationsService } from '#records/notifications/notifications.service.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { BrowserSession, type Page } from '../support/browser-session.js';
import { PASSWORD, REDIRECT_URI, useSharedServiceWithMail } from '../support/spec.js';
import type { ReceivedMail } from '../support/mail-server.js';

const PATH = '/account/email';

describe('Mail to users', () => {
  const { service, smtp } = useSharedServiceWithMail();
  let admin: string;
  let user: UserEntity;

  beforeAll(async () => (admin = await service.make.adminToken()));
  beforeEach(async () => (user = await service.make.user({ emailVerified: true })));

  const patch = (body: object, id = user.id) =>
    service.http.send(`/admin/users/${id}`, { method: 'PATCH', bearer: admin, json: body });
  const isVerified = async (id = user.id): Promise<boolean> =>
    (await service.app.get(UsersService).get(id)).emailVerifiedAt !== null;
  const subjects = (address = user.email): string[] => smtp.to(address).map(({ subject }) => subject);
  const withSubject = async (subject: string, address = user.email): Promise<ReceivedMail> => {
    for (let n = 1; ; n++) {
      const mail = await smtp.mailTo(address, n);
      if (mail.subject === subject) return mail;
    }
  };
  const open = (link: string) => new BrowserSession(service.url).open(new URL(link).pathname);
  const confirm = async (link: string): Promise<Page> => {
    const browser = new BrowserSession(service.url);
    return browser.fillIn(new URL(link).pathname);
  };
  const admins = (path: string) =>
    service.http.send(`/admin/users/${user.id}${path}`, { method: 'POST', bearer: admin });
  const raise = (message = MESSAGES.newSignIn('192.0.2.1'), id = user.id): Promise<void> =>
    service.app.get(Transactions).run(() => service.app.get(NotificationsService).raise(id, null, message));
  /** Everything queued before has been sent when this mail to someone else has arrived. */
  const settled = async (): Promise<void> => {
    const other = await service.make.user({ emailVerified: true });
    await raise(MESSAGES.passwordChanged(), other.id);
    await smtp.mailTo(other.email);
  };

  describe('about security is always sent:', () => {
    it('a login from an unknown browser, and none from a known one', async () => {
      const browser = await service.make.signedIn(user);
      const mail = await smtp.mailTo(user.email);
      expect(mail.subject).toBe('New login to your account');
      expect(mail.text).toContain('127.0.0.1');
      expect(mail.text).toContain('Was this you?');
      await browser.logIn(user.email, PASSWORD).catch(() => undefined);
      await settled();
      expect(subjects()).toEqual(['New login to your account']);
    });

    it('a change of the password', async () => {
      const browser = await service.make.signedIn(user);
      const password = 'another long password';
      const fields = { current_password: PASSWORD, password, password_again: password };
      await browser.fillIn('/account/password', fields);
      await withSubject('Your password was changed');
    });

    it.each([
      ['sets a password', 'set a new password', () => patch({ password: 'another long password' })],
      ['disables the account', 'disabled your account', () => patch({ enabled: false })],
      [
        'changes the address, to the one before',
        'changed the email address',
        () => patch({ email: `moved.${user.email}` }),
      ],
      ['revokes all tokens', 'ended the access that applications had got', () => admins('/revoke_tokens')],
      ['creates a password link', 'created a link', () => admins('/password_links')],
    ])('when an operator %s', async (_what, text, act) => {
      expect((await act()).status).toBeLessThan(300);
      const mail = await withSubject('An operator changed your account');
      expect(mail.text).toContain(`An operator ${text}`);
      expect(mail.text).not.toContain('cds_pw_');
    });

    it('when an operator makes them one', async () => {
      expect((await patch({ role: 'operator', operator_role: 'viewer' })).status).toBe(200);
      const mail = await withSubject('Your access to the console changed');
      expect(mail.text).toContain('You are an operator with the role viewer now.');
    });
  });

  it('that can be switched off is sent until it is', async () => {
    const clients = [await service.make.client(), await service.make.client()];
    const browser = await service.make.signedIn(user);
    const connect = (id: string): Promise<URL> =>
      browser.authorize({ response_type: 'code', client_id: id, redirect_uri: REDIRECT_URI });
    await connect(clients[0]!.id);
    const mail = await withSubject('You connected an application to your account');
    expect(mail.text).toContain(clients[0]!.name);
    expect(mail.text).toContain(`${service.url}${PATH}`);
    // Approving once more connects nothing new.
    await connect(clients[0]!.id);
    await raise(MESSAGES.refreshTokenReplayed('X'));
    await withSubject('Access of an application was ended for your safety');
    const page = await browser.open(PATH);
    expect(page.text).toContain('Confirmed');
    expect((await browser.submit(page, PATH, { do: 'choose', wanted: [] })).status).toBe(303);
    await connect(clients[1]!.id);
    await raise(MESSAGES.refreshTokenReplayed('X'));
    await raise(MESSAGES.passwordChanged());
    // Mails are sent at the same time, and arrive in any order.
    await withSubject('New login to your account');
    await withSubject('Your password was changed');
    expect(subjects().sort()).toEqual([
      'Access of an application was ended for your safety',
      'New login to your account',
      'You connected an application to your account',
      'Your password was changed',
    ]);
  });

  it('tells of an ACTIONABLE notification that an operator raises, with its link, and of no other', async () => {
    const notify = (category: string, title: string) =>
      service.http.send('/admin/notifications', {
        bearer: admin,
        json: {
          user_id: user.id,
          message_id: 'ERR9000',
          category,
          short_text_title: title,
          short_text_body: 'Two lines\nof text <b>',
          external_link: 'https://help.example/x',
          external_button_label: 'Get help',
        },
      });
    await notify('MARKETING', 'News');
    await notify('ACTIONABLE', 'Your car is not reachable');
    const mail = await withSubject('Your car is not reachable');
    expect(mail.text).toContain('Get help:\nhttps://help.example/x');
    expect(mail.html).toContain('of text &lt;b>');
    await settled();
    expect(subjects()).not.toContain('News');
  });

  it('is not sent to an address that is not verified', async () => {
    const stranger = await service.make.user();
    await service.make.signedIn(stranger);
    await settled();
    expect(subjects(stranger.email)).toEqual([]);
  });

  describe('that verifies an address', () => {
    it('is sent on request, is limited, and its link works once and needs a button', async () => {
      user = await service.make.user();
      const browser = await service.make.signedIn(user);
      const send = async (): Promise<Page> => browser.fillIn(PATH, { do: 'send_link' });
      expect((await send()).headers.get('location')).toBe(PATH);
      const { link, subject } = await smtp.mailTo(user.email);
      expect(subject).toBe('Confirm your email address');
      const page = await open(link);
      expect(page.html.querySelector('main button')!.text).toBe('Confirm address');
      expect(page.headers.get('referrer-policy')).toBe('strict-origin');
      expect(await isVerified()).toBe(false);
      for (let n = 2; n <= 5; n++) expect((await send()).status).toBe(303);
      const refused = await send();
      expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true]);
      expect((await confirm(link)).status).toBe(200);
      expect(await isVerified()).toBe(true);
      expect((await open(link)).status).toBe(410);
      expect((await browser.open(PATH)).text).not.toMatch(/Not confirmed|Send link/);
    });

    it('is not sent, nor said to be, to one that was verified since the form was opened', async () => {
      user = await service.make.user();
      const browser = await service.make.signedIn(user);
      const page = await browser.open(PATH);
      await service.make.updateUser(user, { emailVerified: true });
      const answer = await browser.submit(page, PATH, { do: 'send_link' });
      expect([answer.status, answer.headers.get('location')]).toEqual([303, PATH]);
      const after = await browser.open(PATH);
      expect(after.html.querySelector('[role="status"]')).toBeNull();
      expect(after.text).toContain('Confirmed');
      await settled();
      expect(subjects()).toEqual([]);
    });

    it('is sent at a change of address, after which the earlier link and verification count for nothing', async () => {
      const first = `first.${user.email}`;
      expect((await patch({ email: first })).json).toMatchObject({ email: first, email_verified: false });
      const { link } = await smtp.mailTo(first);
      const second = `second.${user.email}`;
      await patch({ email: second });
      expect((await open(link)).status).toBe(410);
      expect((await confirm((await smtp.mailTo(second)).link)).status).toBe(200);
      expect(await isVerified()).toBe(true);
      // Upper case is another spelling, which nobody has verified.
      expect((await patch({ email: second.toUpperCase() })).json.email_verified).toBe(false);
    });

    it('is not sent if an operator vouches for the new address', async () => {
      const email = `vouched.${user.email}`;
      expect((await patch({ email, email_verified: true })).json).toMatchObject({ email_verified: true });
      expect((await patch({ email_verified: false })).json.email_verified).toBe(false);
      expect((await patch({ email_verified: true })).json.email_verified).toBe(true);
      await settled();
      expect(subjects(email)).toEqual([]);
      const made = await service.http.send('/admin/users', {
        bearer: admin,
        json: { email: `made.${user.email}`, name: 'Made', email_verified: true },
      });
      expect(made.json.email_verified).toBe(true);
    });

    it('works within 24 hours, and not for a disabled account', async () => {
      user = await service.make.user();
      const browser = await service.make.signedIn(user);
      for (let n = 0; n < 2; n++) await browser.fillIn(PATH, { do: 'send_link' });
      const [first, second] = [await smtp.mailTo(user.email), await smtp.mailTo(user.email, 2)];
      await service.database.query(
        "UPDATE email_links SET expires_at = expires_at - interval '24 hours' WHERE user_id = $1",
        [user.id],
      );
      expect((await open(first.link)).status).toBe(410);
      await service.database.query(
        "UPDATE email_links SET expires_at = now() + interval '1 h' WHERE user_id = $1",
        [user.id],
      );
      const reader = new BrowserSession(service.url);
      const path = new URL(second.link).pathname;
      const page = await reader.open(path);
      await service.database.query('UPDATE users SET enabled = false WHERE id = $1', [user.id]);
      expect((await reader.submit(page, path)).status).toBe(410);
      expect(await isVerified()).toBe(false);
    });
  });

  it('is listed for operators by user and state, newest first, without content', async () => {
    await raise();
    await smtp.mailTo(user.email);
    const read = (query: string) => service.http.get(`/admin/mails?${query}`, { bearer: admin });
    const { json, status, text } = await read(`user_id=${user.id}`);
    expect([status, json]).toEqual([
      200,
      [
        {
          id: expect.stringMatching(/^mail/),
          kind: 'security',
          user_id: user.id,
          state: expect.stringMatching(/^(sent|pending)$/),
          attempts: 1,
          created_at: expect.any(String),
          sent_at: json[0].sent_at,
        },
      ],
    ]);
    expect(text).not.toContain('192.0.2.1');
    expect((await read(`user_id=${user.id}&state=failed`)).json).toEqual([]);
    expect((await read('state=odd')).status).toBe(400);
    expect((await service.http.get('/admin/mails')).status).toBe(401);
    const console = await service.make.signedIn(await service.make.user({ role: 'operator' }));
    const page = await console.open(`/admin/console/mails?user_id=${user.id}`);
    expect(page.status).toBe(200);
    expect(page.html.querySelector('table')!.text).toContain(user.email);
    expect((await console.open('/admin/console/mails?state=odd')).status).toBe(400);
  });
});
