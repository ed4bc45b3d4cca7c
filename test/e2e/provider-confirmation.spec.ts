import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { changesRead } from '../support/changes-read.js';
import { BrokenIdentityProvider } from '../support/broken-identity-provider.js';
import { BrowserSession, leadsTo, type Page, PATIENT, useServiceWithProvider } from '../support/spec.js';
import { whileHeld } from '../support/held-rows.js';

const CONFIRM = '/admin/console/confirm-password';
const secondsAgo = (seconds: number) => Math.floor(Date.now() / 1000) - seconds;

describe('An operator who came from a provider, when the console asks for the password again,', () => {
  const idp = new BrokenIdentityProvider();
  const STAFF = { id: 'staff', label: 'Example Staff', audience: ['operators'], accounts: 'verified_email' };
  const WITH_ROLES = {
    ...STAFF,
    id: 'groups',
    label: 'Example Groups',
    audience: ['users', 'operators'],
    role_claim: 'groups',
    roles: { admins: 'admin', helpers: 'support', readers: 'viewer' },
  };
  const service = useServiceWithProvider(idp, [STAFF, WITH_ROLES], { databaseOptions: PATIENT });
  let browser: BrowserSession;
  let userId: string;

  beforeAll(async () => {
    userId = (await service.make.user()).id;
    await service.make.user({ email: 'olga@mail.example', role: 'operator' });
    await service.make.user({ email: 'omar@mail.example', role: 'operator' });
  });

  const asPerson = (sub: string, authTime: number | undefined) =>
    (idp.faults = { claims: { sub, email: `${sub}@mail.example`, auth_time: authTime } });
  const logIn = async (authTime: number | undefined): Promise<void> => {
    asPerson('olga', authTime);
    browser = new BrowserSession(service.url);
    const begun = await browser.submit(await browser.open('/login'), '/login/providers/staff');
    expect((await browser.open(idp.callbackOf(leadsTo(begun)!))).headers.get('location')).toBe('/account');
  };
  /** From the page that asks to the provider, and back. */
  const confirm = async (asking: Page): Promise<Page> => {
    const begun = await browser.submit(await browser.open(asking.headers.get('location')!), CONFIRM);
    expect(new URL(leadsTo(begun)!).searchParams.get('max_age')).toBe('0');
    return browser.open(idp.callbackOf(leadsTo(begun)!));
  };
  const erase = () => `/admin/console/users/${userId}/erase`;
  const reason = async () =>
    (
      await service.database.query<{ reason: string }>(
        "SELECT after->>'reason' AS reason FROM audit_events WHERE action = 'session.refused' ORDER BY id DESC LIMIT 1",
      )
    )[0]?.reason;

  it('is not asked if the person has just authenticated there', async () => {
    await logIn(secondsAgo(5));
    expect((await browser.open(erase())).status).toBe(200);
  });

  it.each([
    ['long ago', () => secondsAgo(3600)],
    ['at a time that the provider does not tell', () => undefined],
  ])(
    'is sent there if the person authenticated %s, and continues under a new session id',
    async (_name, at) => {
      await logIn(at());
      const before = browser.cookies.get('cds_session') ?? [...browser.cookies.values()].join();
      const asking = await browser.open(erase());
      expect([asking.status, asking.headers.get('location')?.split('?')[0]]).toEqual([303, CONFIRM]);
      const page = await browser.open(asking.headers.get('location')!);
      expect(page.html.text).toContain('Continue with Example Staff');
      expect(page.html.querySelector('input[type=password]')).toBeNull();
      expect(page.headers.get('content-security-policy')).toMatch(/form-action 'self'$/);
      asPerson('olga', secondsAgo(1));
      expect((await confirm(asking)).headers.get('location')).toBe(erase());
      expect((await browser.open(erase())).status).toBe(200);
      expect([...browser.cookies.values()].join()).not.toBe(before);
      const methods = await service.database.query<{ method: string }>(
        "SELECT DISTINCT method FROM sessions WHERE provider = 'staff'",
      );
      expect(methods).toEqual([{ method: 'provider' }]);
    },
  );

  it('is refused if the person did not authenticate again: auth_time is too old', async () => {
    await logIn(secondsAgo(3600));
    asPerson('olga', secondsAgo(1200));
    const answer = await confirm(await browser.open(erase()));
    expect([answer.status, await reason()]).toEqual([403, 'authentication_not_recent']);
    expect(answer.html.querySelector('h1')?.text).toBe('A new login is needed');
    expect(answer.html.text).toContain('Log out at Example Staff');
    expect((await browser.open(erase())).status).toBe(303);
  });

  it('is refused without auth_time', async () => {
    await logIn(secondsAgo(3600));
    asPerson('olga', undefined);
    const answer = await confirm(await browser.open(erase()));
    expect([answer.status, await reason()]).toEqual([403, 'authentication_not_recent']);
  });

  it('is refused for another person, whose session does not begin', async () => {
    await logIn(secondsAgo(3600));
    asPerson('omar', secondsAgo(1));
    const answer = await confirm(await browser.open(erase()));
    expect([answer.status, await reason()]).toEqual([400, 'provider_answer_invalid']);
    expect((await browser.open('/account')).html.text).toContain('olga@mail.example');
  });

  it('is refused if the person cancels there, and stays logged in here, which the page does not deny', async () => {
    await logIn(secondsAgo(3600));
    const asking = await browser.open(erase());
    idp.faults = { redirect: { code: undefined, error: 'access_denied' } };
    const answer = await confirm(asking);
    expect([answer.status, await reason()]).toEqual([400, 'provider_refused']);
    const text = answer.html.querySelector('main')!.text;
    expect(text).toContain('You cancelled, or Example Staff refused the login.');
    expect(text).not.toContain('You are not logged in');
    expect((await browser.open('/account')).status).toBe(200);
  });

  it('is refused if the browser was logged out meanwhile', async () => {
    await logIn(secondsAgo(3600));
    const page = await browser.open((await browser.open(erase())).headers.get('location')!);
    const begun = await browser.submit(page, CONFIRM);
    await service.database.query('DELETE FROM sessions');
    asPerson('olga', secondsAgo(1));
    const answer = await browser.open(idp.callbackOf(leadsTo(begun)!));
    expect([answer.status, await reason()]).toEqual([400, 'sign_in_expired']);
  });

  describe('and whose role there has changed,', () => {
    let email: string;
    let anna: UserEntity;
    beforeEach(async () => {
      anna = await service.make.user();
      email = anna.email;
    });

    const inGroup = (...groups: string[]) =>
      (idp.faults = { claims: { sub: anna.id, email, groups, auth_time: secondsAgo(1) } });
    /** Someone of this group logs in, and presses the button of the page that asks. */
    const askedAs = async (group: string): Promise<Page> => {
      inGroup(group);
      browser = new BrowserSession(service.url);
      const begun = await browser.submit(await browser.open('/login'), '/login/providers/groups');
      await browser.open(idp.callbackOf(leadsTo(begun)!));
      const asking = await browser.open(
        `${CONFIRM}?${new URLSearchParams({ return_to: erase() }).toString()}`,
      );
      return browser.submit(asking, CONFIRM);
    };
    const comeBack = (begun: Page) => browser.open(idp.callbackOf(leadsTo(begun)!));
    const roleOf = async () =>
      (await service.database.query('SELECT role, operator_role FROM users WHERE id = $1', [anna.id]))[0];
    const audited = async () =>
      (
        await service.database.query<{ action: string }>(
          'SELECT action FROM audit_events WHERE subject_id = $1 ORDER BY id DESC LIMIT 2',
          [anna.id],
        )
      ).map(({ action }) => action);

    it('has a lower one from then on, in a new session, which alone is left', async () => {
      const begun = await askedAs('admins');
      const elsewhere = new BrowserSession(service.url);
      const other = await elsewhere.submit(await elsewhere.open('/login'), '/login/providers/groups');
      await elsewhere.open(idp.callbackOf(leadsTo(other)!));
      const before = browser.cookies.get('cds_session');
      inGroup('readers');
      const answer = await comeBack(begun);
      expect([answer.status, answer.headers.get('location')]).toEqual([303, erase()]);
      expect(await roleOf()).toEqual({ role: 'operator', operator_role: 'viewer' });
      expect(browser.cookies.get('cds_session')).not.toBe(before);
      expect([(await browser.open('/admin/console')).status, (await browser.open(erase())).status]).toEqual([
        200, 403,
      ]);
      expect((await elsewhere.open('/account')).status).toBe(302);
      expect(await audited()).toEqual(['session.started', 'user.updated']);
    });

    it('has a higher one from then on, and gets to where it is needed', async () => {
      const begun = await askedAs('helpers');
      inGroup('admins');
      expect((await comeBack(begun)).headers.get('location')).toBe(erase());
      expect(await roleOf()).toEqual({ role: 'operator', operator_role: 'admin' });
      expect((await browser.open(erase())).status).toBe(200);
    });

    it('has none any more, and stays logged in as a user', async () => {
      const begun = await askedAs('admins');
      inGroup('guests');
      expect((await browser.open((await comeBack(begun)).headers.get('location')!)).status).toBe(403);
      expect(await roleOf()).toEqual({ role: 'user', operator_role: null });
      expect((await browser.open('/account')).status).toBe(200);
    });

    it('is not logged in again by that if the browser was logged out while the change waited', async () => {
      const begun = await askedAs('admins');
      inGroup('readers');
      const ending = `WITH held AS (UPDATE users SET updated_at = now() WHERE id = $1 RETURNING id)
                      DELETE FROM sessions USING held WHERE user_id = held.id`;
      const [answer] = await whileHeld(service, [ending, [anna.id]], [() => comeBack(begun)], 'COMMIT');
      expect([answer!.status, await reason()]).toEqual([400, 'sign_in_expired']);
      expect(await roleOf()).toEqual({ role: 'operator', operator_role: 'admin' });
      expect((await browser.open('/account')).status).toBe(302);
    });

    it('stays the last admin, and is confirmed as usual', async () => {
      const begun = await askedAs('admins');
      await service.database.query('UPDATE users SET enabled = false WHERE operator_role = $1 AND id <> $2', [
        'admin',
        anna.id,
      ]);
      inGroup('readers');
      expect((await comeBack(begun)).headers.get('location')).toBe(erase());
      await service.database.query("UPDATE users SET enabled = true WHERE operator_role = 'admin'");
      expect((await browser.open(erase())).status).toBe(200);
      expect((await audited())[0]).toBe('session.confirmed');
    });
  });

  it.each(['/edit', '/password-link'])('is asked before the form, or at the button: %s', async (part) => {
    await logIn(secondsAgo(3600));
    const path = `/admin/console/users/${userId}${part}`;
    const above = await browser.open(`/admin/console/users/${userId}`);
    const asking = part === '/edit' ? await browser.open(path) : await browser.submit(above, path);
    expect([asking.status, asking.headers.get('location')?.split('?')[0]]).toEqual([303, CONFIRM]);
    asPerson('olga', secondsAgo(1));
    const back = (await confirm(asking)).headers.get('location')!;
    expect((await browser.open(back)).status).toBe(200);
  });

  it('is told when the provider cannot be reached', async () => {
    await logIn(secondsAgo(3600));
    const page = await browser.open((await browser.open(erase())).headers.get('location')!);
    await changesRead(service);
    idp.faults = { answers: { '/.well-known/openid-configuration': { status: 500, body: '' } } };
    const { ProviderClients } =
      await import('#access/identity-providers/protocol/provider-clients.service.js');
    const clients = service.app.get(ProviderClients, { strict: false });
    clients.forget(clients.get('staff'));
    const answer = await browser.submit(page, CONFIRM);
    expect([answer.status, answer.html.text]).toEqual([
      400,
      expect.stringContaining('Example Staff cannot be reached'),
    ]);
  });
});
