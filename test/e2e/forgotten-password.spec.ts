import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { BrowserSession, madeForEach, sharedService, useSharedServiceWithMail } from '../support/spec.js';
import { untilWaitingForLocks } from '../support/locks.js';
import { newAddress } from '../support/rate-limits.js';
import { connectionTo } from '../support/test-database.js';

const NEW_PASSWORD = 'a new long password';
const PATH = '/password/forgotten';

describe('A forgotten password', () => {
  const { service, smtp } = useSharedServiceWithMail();
  const user = madeForEach(() => service.make.user());

  /** A browser at a network address of its own. */
  const newBrowser = () => new BrowserSession(service.url, { 'x-forwarded-for': newAddress() });
  const ask = async (email: string, browser = newBrowser()) =>
    browser.submit(await browser.open(PATH), PATH, { email });
  const linkFor = async ({ email }: UserEntity, n = 1) =>
    new URL((await smtp.mailTo(email, n)).link).pathname;
  const set = async (link: string) => {
    const browser = newBrowser();
    const fields = { password: NEW_PASSWORD, password_again: NEW_PASSWORD };
    return browser.submit(await browser.open(link), link, fields);
  };
  const mailsTo = (address: string): Promise<{ kind: string; state: string }[]> =>
    service.database.query('SELECT kind, state FROM mails WHERE address = $1 ORDER BY id', [address]);

  it('is set anew with the link that was mailed, which verifies the address and works once', async () => {
    const login = await newBrowser().open('/login');
    expect(login.html.querySelector(`a[href="${PATH}"]`)!.text).toBe('Forgot your password?');
    expect((await ask(user.email)).status).toBe(200);
    const mail = await smtp.mailTo(user.email);
    expect([mail.subject, mail.from]).toEqual([
      'Set a new password',
      '"Charging" <no-reply@charging.example>',
    ]);
    expect(mail.messageId).toMatch(/^<mail[0-9A-Z]{26}@charging\.example>$/);
    expect(mail.html).toContain(mail.link);
    expect(mail.html).not.toMatch(/<img|<link|<script|url\(/);
    const link = await linkFor(user);
    expect((await service.app.get(UsersService).get(user.id)).emailVerifiedAt).toBeNull();
    expect((await set(link)).status).toBe(200);
    await service.make.signedIn(user, NEW_PASSWORD);
    expect((await service.app.get(UsersService).get(user.id)).emailVerifiedAt).toBeInstanceOf(Date);
    expect((await newBrowser().open(link)).status).toBe(410);
    // The address is verified now, so the change itself is mailed.
    expect((await smtp.mailTo(user.email, 2)).subject).toBe('Your password was changed');
  });

  it('is mailed a link that works for exactly one hour', async () => {
    await ask(user.email);
    const link = await linkFor(user);
    const age = (seconds: number) =>
      service.database.query(
        'UPDATE password_links SET expires_at = expires_at - make_interval(secs => $1) WHERE user_id = $2',
        [seconds, user.id],
      );
    await age(3_600 - 60);
    expect((await newBrowser().open(link)).status).toBe(200);
    await age(60);
    expect((await newBrowser().open(link)).status).toBe(410);
  });

  describe('gets the same answer', () => {
    it('for a known, an unknown and a disabled account, and mails only the first', async () => {
      const disabled = await service.make.user();
      await service.make.setEnabled(disabled, false);
      const unknown = 'nobody@mail.example';
      const answers = [await ask(user.email), await ask(unknown), await ask(disabled.email)];
      const bodies = answers.map(({ text }, n) =>
        text.replaceAll([user.email, unknown, disabled.email][n]!, '@@'),
      );
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(new Set(bodies).size).toBe(1);
      await smtp.mailTo(user.email);
      expect([await mailsTo(unknown), await mailsTo(disabled.email)]).toEqual([[], []]);
    });

    it('before anything is looked up', async () => {
      const other = await connectionTo(service);
      try {
        await other.query('BEGIN');
        await other.query('LOCK TABLE users IN ACCESS EXCLUSIVE MODE');
        const browser = newBrowser();
        const page = await browser.open(PATH);
        for (const email of [user.email, 'nobody@mail.example'])
          expect((await browser.submit(page, PATH, { email })).status).toBe(200);
        expect(smtp.to(user.email)).toEqual([]);
      } finally {
        await other.query('ROLLBACK');
        await other.end();
      }
      await smtp.mailTo(user.email);
    });
  });

  it('refuses what is no address, beside the field', async () => {
    for (const email of ['', 'no address', `${'x'.repeat(250)}@mail.example`]) {
      const page = await ask(email);
      expect(page.status).toBe(400);
      expect(page.html.querySelector('#email')!.getAttribute('aria-describedby')).toContain('email-error');
    }
  });

  it('is mailed at most five links an hour to one address, with the same answer beyond that', async () => {
    const statuses = [];
    for (let n = 0; n < 7; n++) statuses.push((await ask(user.email)).status);
    expect(new Set(statuses)).toEqual(new Set([200]));
    await smtp.mailTo(user.email, 5);
    // A mail for another user, asked for later, has arrived: nothing more is on its way.
    const other = await service.make.user();
    await ask(other.email);
    await smtp.mailTo(other.email);
    expect(await mailsTo(user.email)).toHaveLength(5);
  });

  it('is mailed at most 20 links an hour from one network address, and other addresses are not held up', async () => {
    const browser = newBrowser();
    const users = await Promise.all(Array.from({ length: 22 }, () => service.make.user()));
    const page = await browser.open(PATH);
    for (const { email } of users) expect((await browser.submit(page, PATH, { email })).status).toBe(200);
    await smtp.mailTo(users[19]!.email);
    await ask(users[20]!.email);
    await smtp.mailTo(users[20]!.email);
    expect(await mailsTo(users[21]!.email)).toEqual([]);
  });

  it('is never mailed to an address that the account no longer has', async () => {
    const other = await connectionTo(service);
    const old = user.email;
    try {
      await other.query('BEGIN');
      await other.query(
        "UPDATE users SET email = 'new@mail.example', email_key = 'new@mail.example' WHERE id = $1",
        [user.id],
      );
      await ask(old);
      await untilWaitingForLocks(service.database, 1);
      await other.query('COMMIT');
    } finally {
      await other.end();
    }
    const later = await service.make.user();
    await ask(later.email);
    await smtp.mailTo(later.email);
    expect(await mailsTo(old)).toEqual([]);
  });

  it('does not exist without mail', async () => {
    const without = await sharedService();
    try {
      const browser = new BrowserSession(without.url);
      expect((await browser.open(PATH)).status).toBe(404);
      expect((await browser.open('/sign-up')).status).toBe(404);
      expect((await browser.open('/login')).html.querySelector(`a[href="${PATH}"]`)).toBeNull();
    } finally {
      await without.stop();
    }
  });
});
