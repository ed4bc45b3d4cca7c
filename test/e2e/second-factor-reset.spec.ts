import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { auditEventsOn, notificationsOf } from '../support/audit-events.js';
import { setUpApp, setUpPasskey } from '../support/factors-without-pages.js';
import { givePassword, isSignedIn, logInWith, newBrowserAt } from '../support/second-factors.js';
import { useSharedService } from '../support/test-service.js';

const NONE = { passkeys: 0, authenticator_app: false, recovery_codes_left: 0 };

describe('The second factor of a user', () => {
  const service = useSharedService();
  let user: UserEntity;
  let bearer: string;

  beforeAll(async () => (bearer = await service.make.adminToken()));
  beforeEach(async () => (user = await service.make.user()));

  const path = () => `/admin/users/${user.id}/second_factor`;
  const shown = async (): Promise<unknown> =>
    (await service.http.get(`/admin/users/${user.id}`, { bearer })).json.second_factor;
  const addBoth = async () => {
    const browser = await service.make.signedIn(user);
    const passkey = await setUpPasskey(service, browser);
    await setUpApp(service, browser);
    return { browser, passkey };
  };
  const events = () => auditEventsOn(service, user.id, 'user.second_factor_reset');
  const told = async () =>
    (await notificationsOf(service, user.id)).filter(({ message_id }) => message_id === 'ERR2603');
  const reset = (by = bearer) => service.http.send(path(), { method: 'DELETE', bearer: by });

  it('is shown by the admin API', async () => {
    expect(await shown()).toEqual(NONE);
    await addBoth();
    expect(await shown()).toEqual({ passkeys: 1, authenticator_app: true, recovery_codes_left: 10 });
    expect((await service.http.get('/admin/users', { bearer })).json[0]).not.toHaveProperty('second_factor');
  });

  it('is reset by the admin API, which ends the sessions and tells the user', async () => {
    const { browser, passkey } = await addBoth();
    const pending = newBrowserAt(service);
    await givePassword(pending, user);
    expect((await reset()).status).toBe(204);
    expect(await shown()).toEqual(NONE);
    expect(await isSignedIn(browser)).toBe(false);
    expect((await pending.open('/login/second-factor')).status).toBe(401);
    expect((await logInWith(passkey, newBrowserAt(service))).status).toBe(403);
    expect((await givePassword(newBrowserAt(service), user)).headers.get('location')).toBe('/account');
    expect(await events()).toEqual([
      expect.objectContaining({ actor_type: 'client', before: { passkeys: 1, authenticator_app: true } }),
    ]);
    expect((await told()).length).toBe(1);
  });

  it('is no change where there is none, and a 404 for an unknown user', async () => {
    const browser = await service.make.signedIn(user);
    expect((await reset()).status).toBe(204);
    expect([await isSignedIn(browser), (await events()).length, (await told()).length]).toEqual([true, 0, 0]);
    const unknown = '/admin/users/user01HN2NJ9NMRZBXT1H6FT9N7735/second_factor';
    expect((await service.http.send(unknown, { method: 'DELETE', bearer })).status).toBe(404);
  });

  it('is not reset without admin:write, nor for the owner of the client', async () => {
    await addBoth();
    const reader = await service.make.clientToken(await service.make.operatorClient(['admin:read']));
    expect((await reset(reader)).status).toBe(403);
    const grantTypes = ['client_credentials' as const];
    const client = await service.make.client({
      scopes: ['admin:write'],
      grantTypes,
      redirectUris: [],
      ownerId: user.id,
    });
    expect((await reset(await service.make.clientToken(client))).status).toBe(409);
    expect(await shown()).toMatchObject({ passkeys: 1 });
  });

  it('is reset by support for users, but not for operators', async () => {
    const browser = await service.make.signedIn(
      await service.make.user({ role: 'operator', operatorRole: 'support' }),
    );
    const action = () => `/admin/console/users/${user.id}/reset-second-factor`;
    await addBoth();
    expect((await browser.fillIn(action())).status).toBe(303);
    expect(await shown()).toEqual(NONE);
    user = await service.make.user();
    await addBoth();
    const page = await browser.open(action());
    const role = "UPDATE users SET role = 'operator', operator_role = 'admin' WHERE id = $1";
    await service.database.query(role, [user.id]);
    expect((await browser.submit(page, action())).status).toBe(403);
    expect(await shown()).toMatchObject({ passkeys: 1 });
  });

  describe('in the console', () => {
    it('is shown, and reset after a page that says what happens', async () => {
      const operator = await service.make.user({ role: 'operator' });
      const browser = await service.make.signedIn(operator);
      const userPath = `/admin/console/users/${user.id}`;
      expect((await browser.open(userPath)).text).not.toContain('Reset second factor');
      await addBoth();
      const page = await browser.open(userPath);
      expect(page.html.querySelector('dl.facts')!.text).toContain(
        'one passkey, authenticator app, 10 recovery codes left',
      );
      const confirmation = await browser.open(`${userPath}/reset-second-factor`);
      expect(confirmation.text).toContain('The user is logged out everywhere');
      const answer = await browser.submit(confirmation, `${userPath}/reset-second-factor`);
      expect([answer.status, answer.headers.get('location')]).toEqual([303, userPath]);
      expect(await shown()).toEqual(NONE);
      expect((await events())[0]).toMatchObject({ actor_type: 'user', actor_id: operator.id });
    });

    it('is not reset by the operator for themselves', async () => {
      const operator = await service.make.user({ role: 'operator' });
      const browser = await service.make.signedIn(operator);
      await setUpApp(service, browser);
      const own = `/admin/console/users/${operator.id}`;
      expect((await browser.open(own)).text).not.toContain('Reset second factor');
      const page = await browser.open(`${own}/reset-second-factor`);
      const answer = await browser.submit(page, `${own}/reset-second-factor`);
      expect([answer.status, answer.html.querySelector('.notice-error')!.text]).toEqual([
        409,
        'You cannot reset your own second factor. Change it on your account page.',
      ]);
      expect((await browser.open(own)).text).toContain('authenticator app');
    });
  });
});
