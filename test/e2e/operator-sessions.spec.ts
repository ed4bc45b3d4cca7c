import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { auditEventsOn } from '../support/audit-events.js';
import { BrowserSession, PASSWORD, useServiceWithProvider } from '../support/spec.js';
import { IdentityProvider, PersonBrowser } from '../support/identity-provider.js';
import { addPasskey, logInWith } from '../support/second-factors.js';

const CONSOLE = '/admin/console';
const ROLES = { role_claim: 'groups', roles: { staff: 'viewer', admins: 'admin' } };
const SCOPE = 'openid email profile groups';
const PROVIDERS = [
  { id: 'company', accounts: 'verified_email', audience: ['users', 'operators'] },
  { id: 'staff', accounts: 'create', audience: ['users', 'operators'], scope: SCOPE, ...ROLES },
  // For users alone.
  { id: 'drivers' },
];

const idp = new IdentityProvider();
const service = useServiceWithProvider(idp, PROVIDERS);

describe('The session of an operator', () => {
  const users = () => service.app.get(UsersService);
  /** The first sign-in through a provider may have ended the password. */
  const withPassword = (id: string) => users().update(id, { password: PASSWORD }, SERVICE_ACTOR);
  const operator = async (): Promise<[browser: BrowserSession, id: string]> => {
    const user = await service.make.user({ role: 'operator' });
    return [await service.make.signedIn(user), user.id];
  };
  /** Lets the user's sessions grow older, as if the browser had been left alone. */
  const letPass = (userId: string, minutes: number) =>
    service.database.query(
      `UPDATE sessions SET created_at = created_at - make_interval(mins => $2), last_seen_at = last_seen_at - make_interval(mins => $2),
              expires_at = expires_at - make_interval(mins => $2), ends_at = ends_at - make_interval(mins => $2)
        WHERE user_id = $1`,
      [userId, minutes],
    );
  const isOpen = async (browser: BrowserSession, path = CONSOLE, headers: Record<string, string> = {}) =>
    (await browser.open(path, { headers })).status === 200;

  describe('that is not used', () => {
    it('ends after an hour, and leads to the login', async () => {
      const [browser, id] = await operator();
      await letPass(id, 61);
      const answer = await browser.open(CONSOLE);
      expect([answer.status, answer.headers.get('location')]).toEqual([
        302,
        `/login?${new URLSearchParams({ return_to: CONSOLE }).toString()}`,
      ]);
      expect(await isOpen(browser, '/account')).toBe(false);
    });

    it('ends although a page of it asks for news by itself', async () => {
      const [browser, id] = await operator();
      await letPass(id, 40);
      expect(await isOpen(browser, CONSOLE, { 'x-unattended': '1' })).toBe(true);
      await letPass(id, 21);
      expect(await isOpen(browser)).toBe(false);
    });

    it('is not listed any more, and cannot be brought back', async () => {
      const [browser, id] = await operator();
      await letPass(id, 61);
      expect(await isOpen(browser)).toBe(false);
      const other = await service.make.signedIn(await users().get(id));
      expect((await other.open('/account/sessions')).text).toContain('You have no other sessions.');
      expect(await isOpen(browser)).toBe(false);
    });
  });

  describe('that is used', () => {
    const useFor = async (browser: BrowserSession, id: string, times: number): Promise<void> => {
      for (let time = 0; time < times; time++) {
        await letPass(id, 50);
        expect(await isOpen(browser)).toBe(true);
      }
    };
    /** The same without the pages: as the session is after 13 times. */
    const beInUse = (userId: string) =>
      service.database.query(
        `UPDATE sessions SET created_at = created_at - make_interval(mins => 13 * 50), ends_at = ends_at - make_interval(mins => 13 * 50)
          WHERE user_id = $1`,
        [userId],
      );

    it('goes on for 12 hours, and ends then', async () => {
      const [browser, id] = await operator();
      await useFor(browser, id, 14);
      await letPass(id, 21);
      expect(await isOpen(browser)).toBe(false);
    });

    it('ends 12 hours after the login although the password was entered again', async () => {
      const [browser, id] = await operator();
      await beInUse(id);
      const page = await browser.open(`${CONSOLE}/confirm-password`);
      const confirmed = await browser.submit(page, `${CONSOLE}/confirm-password`, { password: PASSWORD });
      expect(confirmed.status).toBe(303);
      await useFor(browser, id, 1);
      await letPass(id, 21);
      expect(await isOpen(browser)).toBe(false);
    });

    it('ends 12 hours after the login although the password was changed', async () => {
      const [browser, id] = await operator();
      await beInUse(id);
      const fields = { current_password: PASSWORD, password: `${PASSWORD}!`, password_again: `${PASSWORD}!` };
      const page = await browser.open('/account/password');
      expect((await browser.submit(page, '/account/password', fields)).status).toBe(303);
      await useFor(browser, id, 1);
      await letPass(id, 21);
      expect(await isOpen(browser)).toBe(false);
    });

    it('ends 12 hours after the login although a passkey was used again', async () => {
      const [browser, id] = await operator();
      const { passkey } = await addPasskey(browser, service.url);
      await beInUse(id);
      expect((await logInWith(passkey, browser)).status).toBe(200);
      await useFor(browser, id, 1);
      await letPass(id, 21);
      expect(await isOpen(browser)).toBe(false);
    });

    it('begins anew with a login', async () => {
      const [browser, id] = await operator();
      await beInUse(id);
      await useFor(browser, id, 1);
      const user = await users().get(id);
      await browser.submit(await browser.open('/account'), '/logout');
      await browser.logIn(user.email, PASSWORD);
      await useFor(browser, id, 2);
    });
  });

  it('is not the session of a user, which lasts as long as the settings say', async () => {
    const user = await service.make.user();
    const browser = await service.make.signedIn(user);
    await letPass(user.id, 6 * 24 * 60);
    expect(await isOpen(browser, '/account')).toBe(true);
  });

  it('is never longer than that of a user', async () => {
    const { settings } = service;
    const { sessionTtl } = settings;
    settings.sessionTtl = 600;
    const user = await service.make.user({ role: 'operator' });
    await service.make.signedIn(user).finally(() => (settings.sessionTtl = sessionTtl));
    const seconds = await service.database.value<number>(
      'SELECT extract(epoch FROM greatest(ends_at, expires_at) - created_at)::int FROM sessions WHERE user_id = $1',
      [user.id],
    );
    expect(seconds).toBe(600);
  });

  describe('whose role a provider decides', () => {
    let people = 0;
    const staff = (groups = 'admins') => {
      const sub = `staff${++people}`;
      const email = `${sub}@mail.example`;
      idp.people.set(sub, { email, email_verified: true, name: `Staff ${people}`, groups: [groups] });
      return { sub, email };
    };
    const idOf = async (email: string) =>
      (await service.database.query<{ id: string }>('SELECT id FROM users WHERE email = $1', [email]))[0]!.id;

    it('ends within the limit when the role is withdrawn there, and the next login gives none', async () => {
      const { sub, email } = staff();
      const browser = new PersonBrowser(service.url, idp.url);
      await browser.logIn(sub, 'staff', CONSOLE);
      expect(await isOpen(browser.service)).toBe(true);
      idp.people.get(sub)!.groups = [];
      await letPass(await idOf(email), 61);
      expect(await isOpen(browser.service)).toBe(false);
      await browser.logIn(sub, 'staff', CONSOLE);
      expect((await browser.service.open(CONSOLE)).status).toBe(403);
    });

    it('that began with a password opens the console only after a login there', async () => {
      const { sub, email } = staff();
      const user = await service.make.user({ email, role: 'operator' });
      expect(await isOpen(await service.make.signedIn(user))).toBe(true);
      const browser = new PersonBrowser(service.url, idp.url);
      await browser.logIn(sub, 'staff', CONSOLE);
      expect(await isOpen(browser.service)).toBe(true);

      const again = await service.make.signedIn(await withPassword(user.id));
      const path = `${CONSOLE}/users`;
      const refused = await again.open(path);
      const confirm = `/account/confirm?${new URLSearchParams({ return_to: path }).toString()}`;
      expect([refused.status, refused.headers.get('location')]).toEqual([303, confirm]);
      expect(await isOpen(again, '/account')).toBe(true);

      const page = await again.open(confirm);
      expect(page.html.querySelector('input[name="password"]')).toBeNull();
      const begun = await again.submit(page, '/account/confirm');
      expect((await again.open(await browser.answerOf(begun, sub))).headers.get('location')).toBe(path);
      expect(await isOpen(again, path)).toBe(true);
    });

    it('that began with a password opens the console if the link is to a provider that decides no role', async () => {
      const { sub, email } = staff();
      const user = await service.make.user({ email, role: 'operator' });
      await new PersonBrowser(service.url, idp.url).logIn(sub, 'company');
      const account = await withPassword(user.id);
      expect(await isOpen(await service.make.signedIn(account))).toBe(true);
    });

    it.each([
      ['was first linked by a provider that decides no role', ['company', 'staff'], ''],
      ['was linked by one whose id in the settings has changed', ['staff'], "provider = 'employees'"],
    ])('that %s opens the console only after a login there', async (_what, ids, change) => {
      const { sub, email } = staff();
      const { id } = await service.make.user({ email, role: 'operator' });
      for (const each of ids) await new PersonBrowser(service.url, idp.url).logIn(sub, each);
      if (change) await service.database.query(`UPDATE identities SET ${change} WHERE user_id = $1`, [id]);
      const byPassword = await service.make.signedIn(await withPassword(id));
      const byCompany = new PersonBrowser(service.url, idp.url);
      await byCompany.logIn(sub, 'company');
      for (const browser of [byPassword, byCompany.service])
        expect((await browser.open(CONSOLE)).headers.get('location')).toMatch(/^\/account\/confirm\?/);
    });

    it('that came from a provider that decides no role opens the console only after a login at the one that does', async () => {
      const { sub, email } = staff();
      await service.make.user({ email, role: 'operator' });
      await new PersonBrowser(service.url, idp.url).logIn(sub, 'staff');
      const browser = new PersonBrowser(service.url, idp.url);
      await browser.logIn(sub, 'company');
      const refused = await browser.service.open(CONSOLE);
      expect(refused.headers.get('location')).toMatch(/^\/account\/confirm\?/);
      const begun = await browser.service.submit(
        await browser.service.open(refused.headers.get('location')!),
        '/account/confirm',
      );
      const callback = await browser.answerOf(begun, sub);
      expect(callback).toContain('/login/callback/staff?');
      await browser.service.open(callback);
      expect(await isOpen(browser.service)).toBe(true);
    });
  });
});

describe('What a provider says of someone', () => {
  const eventsOn = (id: string, action: string) => auditEventsOn(service, id, action);
  const logIn = async (sub: string, claims: object): Promise<string> => {
    idp.people.set(sub, { email: `${sub}@mail.example`, email_verified: true, name: sub, ...claims });
    await new PersonBrowser(service.url, idp.url).logIn(sub, 'staff');
    return service.database.value<string>('SELECT user_id FROM identities WHERE subject = $1', [sub]);
  };

  it('is in the audit log: that it verified the address of an account, once', async () => {
    const id = await logIn('verified1', {});
    await service.database.query('UPDATE users SET email_verified_at = NULL WHERE id = $1', [id]);
    await logIn('verified1', { email_verified: false });
    expect(await eventsOn(id, 'user.email_verified')).toEqual([]);
    await logIn('verified1', {});
    await logIn('verified1', {});
    expect(await eventsOn(id, 'user.email_verified')).toMatchObject([{ actor_id: id }]);
  });

  it('is in the audit log: that an address is no longer verified after it gave its account a role', async () => {
    const id = await logIn('gains1', {});
    await logIn('gains1', { email_verified: false, groups: ['admins'] });
    expect(await eventsOn(id, 'user.updated')).toMatchObject([
      {
        before: { role: 'user', operator_role: null, email_verified: true },
        after: { role: 'operator', operator_role: 'admin', email_verified: false },
      },
    ]);
  });

  it('does not link by its address, as a user, the owner of a client with operator scopes', async () => {
    const owner = await service.make.user({ email: 'owner-of-robot@mail.example', emailVerified: true });
    await service.make.client({
      ownerId: owner.id,
      scopes: ['admin:read', 'admin:write'],
      grantTypes: ['client_credentials'],
      redirectUris: [],
    });
    idp.people.set('robot-owner', { email: owner.email, email_verified: true });
    expect((await new PersonBrowser(service.url, idp.url).logIn('robot-owner', 'drivers')).status).toBe(403);
  });
});
