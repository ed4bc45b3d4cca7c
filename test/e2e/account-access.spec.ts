import { SERVICE_ACTOR } from '../../src/audit/audit.service.js';
import { NotificationsService } from '../../src/notifications/notifications.service.js';
import type { UserEntity } from '../../src/users/accounts/user.entity.js';
import { BrowserSession, type Page } from '../support/browser-session.js';
import type { TestClient } from '../support/factory.js';
import { expectRefusal, rowCounts, unexpectedErrors } from '../support/refusals.js';
import { useSharedService } from '../support/test-service.js';

const UNKNOWN = {
  client: 'clnt01HN2NJ9NMRZBXT1H6FT9N7735',
  notification: 'notf01HN2NJ9NMRZBXT1H6FT9N7735',
  session: 'sess01HN2NJ9NMRZBXT1H6FT9N7735',
};
const PARTS = ['/account', '/account/notifications', '/account/password', '/account/sessions'];

describe('The account page', () => {
  const service = useSharedService();
  let user: UserEntity;
  let other: UserEntity;
  let client: TestClient;
  let browser: BrowserSession;

  beforeAll(async () => {
    client = await service.make.client({ name: 'Northwind' });
  });
  beforeEach(async () => {
    user = await service.make.user({ name: 'Dana Driver' });
    other = await service.make.user({ name: 'Olga Other' });
    browser = await service.make.signedIn(user);
  });

  const notify = async (to: UserEntity, shortTextTitle = 'Something happened'): Promise<string> =>
    (
      await service.app
        .get(NotificationsService)
        .raiseByOperator(
          { userId: to.id, messageId: 'ERR9', category: 'SERVICE', shortTextTitle, shortTextBody: 'It did.' },
          SERVICE_ACTOR,
        )
    ).id;
  const sessionIdOf = (of: UserEntity) =>
    service.database.value<string>('SELECT id FROM sessions WHERE user_id = $1', [of.id]);
  const post = (
    path: string,
    form: Record<string, string | undefined>,
    by = browser,
    origin = service.url,
  ): Promise<Page> => by.open(path, { form, headers: { origin } });
  const tokenIn = (page: Page, action: string): string =>
    page.html
      .querySelectorAll('form')
      .find((form) => form.getAttribute('action') === action)!
      .querySelector('input[name="csrf_token"]')!
      .getAttribute('value')!;
  /** Every form that changes something, with the fields it sends besides its CSRF token. */
  const forms = async (of: UserEntity): Promise<[string, Record<string, string>][]> => [
    [`/account/applications/${client.id}`, {}],
    [`/account/notifications/${await notify(of)}`, { mark: 'read' }],
    [`/account/sessions/${await sessionIdOf(of)}`, {}],
    ['/account/sessions/sign_out_elsewhere', {}],
    [
      '/account/password',
      { current_password: 'x', password: 'a new long password', password_again: 'a new long password' },
    ],
  ];

  describe('refuses', () => {
    it('a user who is not signed in, redirecting to the login page and from there back to the wanted page', async () => {
      const paths = [...PARTS, `/account?page_after=${UNKNOWN.client}`, `/account/applications/${client.id}`];
      for (const path of paths) {
        const answer = await new BrowserSession(service.url).open(path);
        const login = `/login?${new URLSearchParams({ return_to: path }).toString()}`;
        expect([answer.status, answer.headers.get('location')]).toEqual([302, login]);
        expect(answer.text).toBe('');
      }
      for (const [path, fields] of await forms(user)) {
        const answer = await post(path, fields, new BrowserSession(service.url));
        expect([path, answer.status]).toEqual([path, 303]);
        expect(answer.headers.get('location')).toMatch(/^\/login\?return_to=%2Faccount/);
      }
    });

    it('a form without a CSRF token, with the token of another form or another user, or from another origin', async () => {
      await service.make.consent(client, user);
      await service.make.consent(client, other);
      const strangers = await service.make.signedIn(other);
      const confirmation = `/account/applications/${client.id}`;
      const ours = tokenIn(await browser.open(confirmation), confirmation);
      const theirs = tokenIn(await strangers.open(confirmation), confirmation);
      const password = tokenIn(await browser.open('/account/password'), '/account/password');
      const before = await rowCounts(service);
      for (const [path, fields] of await forms(user)) {
        for (const token of [
          undefined,
          'x',
          theirs,
          path === '/account/password' ? ours : password,
          tokenIn(await browser.open('/account'), '/logout'),
        ]) {
          const answer = await post(path, { ...fields, csrf_token: token });
          expect([path, answer.status]).toEqual([path, 403]);
          expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
        }
      }
      expect((await post(confirmation, { csrf_token: ours }, browser, 'https://evil.example')).status).toBe(
        403,
      );
      const after = await rowCounts(service);
      expect({ ...after, notifications: 0, audit_events: 0 }).toEqual({
        ...before,
        notifications: 0,
        audit_events: 0,
      });
      expect((await post(confirmation, { csrf_token: ours })).status).toBe(303);
    });

    it('resources of another user with the same 404 as unknown ones', async () => {
      await service.make.consent(client, other);
      const strangers = await service.make.signedIn(other);
      const theirNotification = await notify(other);
      const theirSession = await sessionIdOf(other);
      for (const id of [client.id, UNKNOWN.client, 'x', user.id]) {
        const answer = await browser.open(`/account/applications/${id}`);
        expect([id, answer.status]).toEqual([id, 404]);
        expect(answer.text).not.toContain('Northwind');
      }
      // The CSRF tokens are valid: this browser receives them while the resource belongs to its own user.
      await service.database.query(`UPDATE notifications SET user_id = $2 WHERE id = $1`, [
        theirNotification,
        user.id,
      ]);
      const mark = tokenIn(
        await browser.open('/account/notifications'),
        `/account/notifications/${theirNotification}`,
      );
      await service.database.query(`UPDATE notifications SET user_id = $2 WHERE id = $1`, [
        theirNotification,
        other.id,
      ]);
      const marked = await post(`/account/notifications/${theirNotification}`, {
        csrf_token: mark,
        mark: 'read',
      });
      expect(marked.status).toBe(404);
      await service.database.query('UPDATE sessions SET user_id = $2 WHERE id = $1', [theirSession, user.id]);
      const end = tokenIn(await browser.open('/account/sessions'), `/account/sessions/${theirSession}`);
      await service.database.query('UPDATE sessions SET user_id = $2 WHERE id = $1', [
        theirSession,
        other.id,
      ]);
      expect((await post(`/account/sessions/${theirSession}`, { csrf_token: end })).status).toBe(404);
      await service.make.consent(client, user);
      const path = `/account/applications/${client.id}`;
      const disconnect = tokenIn(await browser.open(path), path);
      await service.database.query('DELETE FROM consents WHERE user_id = $1', [user.id]);
      expect((await post(path, { csrf_token: disconnect })).status).toBe(404);
      expect((await strangers.open('/account')).text).toContain('Northwind');
      const [row] = await service.database.query('SELECT read_at FROM notifications WHERE id = $1', [
        theirNotification,
      ]);
      expect(row).toEqual({ read_at: null });
    });

    it('malformed ids and parameters with a page, and never with a 500', async () => {
      const from = service.log.length;
      const odd = [
        '%00',
        '%ED%A0%80',
        'x'.repeat(600),
        "'%20OR%201=1",
        '%3Cscript%3Ealert(1)%3C%2Fscript%3E',
      ];
      for (const id of odd) {
        for (const path of [
          `/account/applications/${id}`,
          `/account?page_after=${id}`,
          `/account/notifications?page_before=${id}`,
          `/account/sessions?page_after=${id}`,
          `/account/sessions?page_size=${id}`,
          `/account?nonsense=${id}`,
        ]) {
          expectRefusal(await browser.open(path), path);
        }
        for (const part of ['applications', 'notifications', 'sessions']) {
          expectRefusal(await post(`/account/${part}/${id}`, { csrf_token: 'x' }), part);
        }
      }
      expect(
        (await browser.open(`/account?page_after=${UNKNOWN.client}&page_before=${UNKNOWN.client}`)).status,
      ).toBe(400);
      expect((await browser.open('/account/password', { json: { password: 'x' } })).status).toBe(415);
      expect((await browser.open(`/account/sessions/${UNKNOWN.session}`)).status).toBe(405);
      expect(unexpectedErrors(service, from)).toEqual([]);
    });
  });

  it('shows nothing that belongs to another user', async () => {
    await service.make.tokens(client, other);
    await notify(other, 'For Olga alone');
    const texts = await Promise.all(PARTS.map(async (path) => (await browser.open(path)).text));
    for (const text of texts) {
      expect(text).toContain('Dana Driver');
      expect(text).not.toMatch(/Olga|Northwind/);
    }
    expect(texts[0]).toContain('No applications are connected');
    expect(texts[3]).toContain('no other sessions');
    await service.database.query('DELETE FROM notifications WHERE user_id = $1', [user.id]);
    expect((await browser.open('/account/notifications')).text).toContain('There are no notifications');
  });

  it('is never cached, runs no script, and does not contain the session secret', async () => {
    const secret = browser.cookies.get('session')!;
    for (const path of PARTS) {
      const page = await browser.open(path);
      expect(page.headers.get('cache-control')).toBe('no-store');
      expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(page.text).not.toContain('<script');
      expect(page.text).not.toContain(secret);
    }
  });

  it('is linked from the start page and the login page for a signed-in user', async () => {
    for (const path of ['/', '/login']) {
      const links = (await browser.open(path)).html.querySelectorAll('a[href="/account"]');
      expect([path, links.length]).toEqual([path, 1]);
    }
    expect((await new BrowserSession(service.url).open('/')).text).not.toContain('href="/account"');
  });

  it('logs out', async () => {
    const answer = await browser.submit(await browser.open('/account/sessions'), '/logout');
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/login']);
    expect((await browser.open('/account')).status).toBe(302);
  });

  it('shows a success message once, and never text that was forged in its cookie', async () => {
    await service.make.consent(client, user);
    const path = `/account/applications/${client.id}`;
    const answer = await browser.submit(await browser.open(path), path);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/account']);
    const statusOn = async (): Promise<string | undefined> =>
      (await browser.open('/account')).html.querySelector('[role="status"]')?.text;
    expect(await statusOn()).toBe('Application disconnected.');
    expect(await statusOn()).toBeUndefined();
    for (const forged of ['constructor', '__proto__', '<b>Send us your password</b>', '%00']) {
      browser.cookies.set('account_notice', forged);
      expect([forged, await statusOn()]).toEqual([forged, undefined]);
    }
  });
});
