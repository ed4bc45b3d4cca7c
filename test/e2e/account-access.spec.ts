import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { NotificationsService } from '#records/notifications/notifications.service.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { BrowserSession, type Page } from '../support/browser-session.js';
import { madeForEach, madeOnce, placeOf, useSharedService } from '../support/spec.js';
import { expectRefusal, unexpectedErrors } from '../support/refusals.js';

const UNKNOWN = {
  client: 'clnt01HN2NJ9NMRZBXT1H6FT9N7735',
  notification: 'notf01HN2NJ9NMRZBXT1H6FT9N7735',
  session: 'sess01HN2NJ9NMRZBXT1H6FT9N7735',
};
const PARTS = ['/account', '/account/notifications', '/account/password', '/account/sessions'];

describe('The account page', () => {
  const service = useSharedService();

  const client = madeOnce(() => service.make.client({ name: 'Northwind' }));
  const user = madeForEach(() => service.make.user({ name: 'Dana Driver' }));
  const other = madeForEach(() => service.make.user({ name: 'Olga Other' }));
  const browser = madeForEach(() => service.make.signedIn(user));

  const notify = async (to: UserEntity, shortTextTitle = 'Something happened') =>
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
  const post = (path: string, form: Record<string, string | undefined>, by = browser) =>
    by.open(path, { form, headers: { origin: service.url } });
  const tokenIn = (page: Page, action: string) =>
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

  it.each([
    ['/account/delete', 'delete your account', '/account'],
    ['/account/export/cds_de_x', 'take your data along', '/account'],
    ['/account/security/app/new', 'change how your account is protected', '/account/security'],
    ['/admin/console/clients', 'open the console', '/account'],
    ['/portal/members', 'change something in the webhook portal', '/portal'],
    [undefined, 'change how your account is protected', '/account/security'],
  ])('asks to log in again with the one reason, and a way back: %s', async (returnTo, reason, back) => {
    const query = returnTo === undefined ? '' : `?return_to=${encodeURIComponent(returnTo)}`;
    const main = (await browser.open(`/account/confirm${query}`)).html.querySelector('main')!;
    expect(main.querySelector('h1 ~ p, .page-head ~ p')!.text).toBe(
      `You are about to ${reason}. Enter your password again to continue. Nothing is changed yet.`,
    );
    expect(main.querySelector('.buttons a')!.getAttribute('href')).toBe(back);
  });

  describe('refuses', () => {
    it('a user who is not signed in, redirecting to the login page and from there back to the wanted page', async () => {
      const paths = [
        ...PARTS,
        `/account?page_after=${UNKNOWN.client}`,
        `/account/applications/${client.id}`,
        `/account/applications/${client.id}/history`,
      ];
      for (const path of paths) {
        const answer = await new BrowserSession(service.url).open(path);
        const login = `/login?${new URLSearchParams({ return_to: path }).toString()}`;
        expect(placeOf(answer)).toEqual([302, login]);
        expect(answer.text).toBe('');
      }
      for (const [path, fields] of await forms(user)) {
        const answer = await post(path, fields, new BrowserSession(service.url));
        expect([path, answer.status]).toEqual([path, 303]);
        expect(answer.headers.get('location')).toMatch(/^\/login\?return_to=%2Faccount/);
      }
    });

    it('the form of a session that has ended, redirecting to the login page and from there to a page that there is', async () => {
      const more = ['app/new', 'app/remove', 'passkeys/new', 'recovery-codes'];
      const paths = [
        ...(await forms(user)).map(([path]) => path),
        ...more.map((each) => `/account/security/${each}`),
        '/account/confirm',
        '/account/delete/keep',
        '/account/email',
        '/account/export',
      ];
      for (const path of paths) {
        const answer = await post(path, {}, new BrowserSession(service.url));
        const login = new URL(answer.headers.get('location')!, service.url);
        const leadsTo = login.searchParams.get('return_to')!;
        expect([path, leadsTo, (await browser.open(leadsTo)).status]).toEqual([path, leadsTo, 200]);
      }
    });

    it('resources of another user with the same 404 as unknown ones', async () => {
      await service.make.consent(client, other);
      const strangers = await service.make.signedIn(other);
      const theirNotification = await notify(other);
      const theirSession = await sessionIdOf(other);
      for (const id of [client.id, UNKNOWN.client, 'x', user.id]) {
        for (const path of [`/account/applications/${id}`, `/account/applications/${id}/history`]) {
          const answer = await browser.open(path);
          expect([path, answer.status]).toEqual([path, 404]);
          expect(answer.text).not.toContain('Northwind');
        }
      }
      // The CSRF tokens are valid: this browser receives them while the resource belongs to its own user.
      for (const [table, id] of [
        ['notifications', theirNotification],
        ['sessions', theirSession],
      ] as const) {
        const give = (to: UserEntity) =>
          service.database.query(`UPDATE ${table} SET user_id = $2 WHERE id = $1`, [id, to.id]);
        await give(user);
        const page = await browser.open(`/account/${table}`);
        await give(other);
        const answer = await browser.submit(page, `/account/${table}/${id}`, { mark: 'read' });
        expect([table, answer.status]).toEqual([table, 404]);
      }
      await service.make.consent(client, user);
      const path = `/account/applications/${client.id}`;
      const disconnecting = await browser.open(path);
      await service.database.query('DELETE FROM consents WHERE user_id = $1', [user.id]);
      expect((await browser.submit(disconnecting, path)).status).toBe(404);
      expect((await strangers.open('/account')).text).toContain('Northwind');
      const readAt = 'SELECT read_at FROM notifications WHERE id = $1';
      expect(await service.database.value(readAt, [theirNotification])).toBeNull();
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
          `/account/applications/${id}/history`,
          `/account?page_after=${id}`,
          `/account/notifications?page_before=${id}`,
          `/account/sessions?page_after=${id}`,
          `/account/sessions?page_size=${id}`,
          `/account?nonsense=${id}`,
        ]) {
          expectRefusal(await browser.open(path), path);
        }
        for (const part of ['applications', 'notifications', 'sessions'])
          expectRefusal(await post(`/account/${part}/${id}`, { csrf_token: 'x' }), part);
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
      // With the blank, which no token of a form can contain.
      expect(text).not.toMatch(/Olga |Northwind/);
    }
    expect(texts[0]).toContain('No applications are connected');
    expect(texts[3]).toContain('no other sessions');
    await service.database.query('DELETE FROM notifications WHERE user_id = $1', [user.id]);
    expect((await browser.open('/account/notifications')).text).toContain('There are no notifications');
  });

  it('accepts no form with the CSRF token of another user, and shows no secret of the session', async () => {
    for (const each of [user, other]) await service.make.consent(client, each);
    const path = `/account/applications/${client.id}`;
    const theirs = tokenIn(await (await service.make.signedIn(other)).open(path), path);
    expect((await post(path, { csrf_token: theirs })).status).toBe(403);
    expect((await browser.submit(await browser.open(path), path)).status).toBe(303);
    for (const part of PARTS)
      expect((await browser.open(part)).text).not.toContain(browser.cookies.get('cds_session'));
  });

  it('is linked from the start page, and the login page leads to it, for a signed-in user', async () => {
    expect((await browser.open('/')).html.querySelectorAll('a[href="/account"]')).toHaveLength(1);
    expect((await browser.open('/login')).headers.get('location')).toBe('/account');
    expect((await new BrowserSession(service.url).open('/')).text).not.toContain('href="/account"');
  });

  it('is one of the doors of the start page: for drivers, for partners and, unless a driver is logged in, for operators', async () => {
    const doorsOf = async (by: BrowserSession) =>
      (await by.open('/')).html.querySelectorAll('.doors a').map((link) => link.getAttribute('href'));
    const partners = ['/portal/sign-in', '/docs/guides'];
    // Nobody can sign up here, and there is no sandbox to watch.
    expect(await doorsOf(new BrowserSession(service.url))).toEqual(['/login', ...partners, '/admin/console']);
    expect(await doorsOf(browser)).toEqual(['/account', ...partners]);
    const operator = await service.make.signedIn(await service.make.user({ role: 'operator' }));
    expect(await doorsOf(operator)).toEqual(['/account', ...partners, '/admin/console']);
    expect((await operator.open('/')).text).not.toContain('/demo/');
  });

  it('is not what the login page names, if it leads to the portal', async () => {
    const login = async (path: string) =>
      (await new BrowserSession(service.url).open(`/login?return_to=${encodeURIComponent(path)}`)).html.text;
    expect(await login('/portal/sign-in')).toContain('to continue to Webhook portal');
    for (const path of ['/account', '/portals']) expect(await login(path)).not.toContain('to continue to');
  });

  it('logs out', async () => {
    const answer = await browser.submit(await browser.open('/account/sessions'), '/logout');
    expect(placeOf(answer)).toEqual([303, '/login']);
    expect((await browser.open('/account')).status).toBe(302);
  });

  it('shows a success message once, and never text that was forged in its cookie', async () => {
    await service.make.consent(client, user);
    const path = `/account/applications/${client.id}`;
    expect(placeOf(await browser.submit(await browser.open(path), path))).toEqual([303, '/account']);
    const statusOn = async () => (await browser.open('/account')).html.querySelector('[role="status"]')?.text;
    expect(await statusOn()).toBe('Application disconnected.');
    expect(await statusOn()).toBeUndefined();
    for (const forged of ['constructor', '__proto__', '<b>Send us your password</b>', '%00']) {
      browser.cookies.set('cds_account_notice', forged);
      expect([forged, await statusOn()]).toEqual([forged, undefined]);
    }
  });
});
