import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { BrokenIdentityProvider } from '../support/broken-identity-provider.js';
import { BrowserSession, leadsTo, type Page, postedAnew, useServiceWithProvider } from '../support/spec.js';

const ACR = ['urn:example:mfa', 'phr'];

describe('How strongly, and how recently, a person authenticated at a provider', () => {
  const idp = new BrokenIdentityProvider();
  const service = useServiceWithProvider(
    idp,
    [
      { id: 'unsaid' },
      { id: 'one', step_up: 'max_age=1' },
      { id: 'prompt', step_up: 'prompt=login' },
      { id: 'acr', acr_values: ACR, step_up: 'max_age=0' },
      { id: 'amr', acr_values: ACR, amr_values: ['mfa', 'hwk'] },
    ].map((provider) => ({ ...provider, label: `Example ${provider.id}` })),
  );

  const logIn = async (
    id: string,
    claims: object,
  ): Promise<{ asked: URL; browser: BrowserSession; page: Page }> => {
    const sub = `person-${id}`;
    idp.faults = { claims: { sub, email: `${sub}@mail.example`, ...claims } };
    const browser = new BrowserSession(service.url);
    const begun = await browser.submit(await browser.open('/login'), `/login/providers/${id}`);
    const asked = new URL(leadsTo(begun)!);
    return { asked, browser, page: await browser.open(idp.callbackOf(asked.href)) };
  };
  const now = () => Math.floor(Date.now() / 1000);

  describe('again, before changing how to log in:', () => {
    it.each([
      ['unsaid', { max_age: '0' }],
      ['one', { max_age: '1' }],
      ['prompt', { prompt: 'login', max_age: '900' }],
    ])('asked as the settings say (%s)', async (id, expected) => {
      const { asked, browser } = await logIn(id, { auth_time: now() - 3600 });
      expect([asked.searchParams.get('max_age'), asked.searchParams.get('prompt')]).toEqual([null, null]);
      const page = await browser.open('/account/confirm?return_to=/account/security');
      const again = new URL(leadsTo(await browser.submit(page, '/account/confirm'))!);
      const { max_age, prompt } = Object.fromEntries(again.searchParams);
      expect({ max_age, prompt }).toEqual(expected);

      // An answer without a recent time proves nothing, however it was asked for.
      idp.faults.claims!.auth_time = now() - 3600;
      expect((await browser.open(idp.callbackOf(again.href))).status).toBe(403);
      const second = leadsTo(await browser.submit(page, '/account/confirm', postedAnew()))!;
      idp.faults.claims!.auth_time = undefined;
      expect((await browser.open(idp.callbackOf(second))).status).toBe(403);
      const third = leadsTo(await browser.submit(page, '/account/confirm', postedAnew()))!;
      idp.faults.claims!.auth_time = now();
      expect((await browser.open(idp.callbackOf(third))).headers.get('location')).toBe('/account/security');
    });
  });

  describe('by acr and amr:', () => {
    // Which are enough: test/unit/provider-person.spec.ts.
    it.each([
      ['no acr', 'acr', {}],
      ['another amr', 'amr', { amr: ['pwd'] }],
    ])('%s is refused, with a page that says so', async (_what, id, claims) => {
      const { page, browser } = await logIn(id, claims);
      expect([page.status, page.html.querySelector('h1')!.text]).toEqual([403, 'A stronger login is needed']);
      expect(page.html.querySelector('main')!.text).toContain(`Example ${id}`);
      expect((await browser.open('/account')).status).toBe(302);
      const [row] = await service.database.query<{ reason: string }>(
        "SELECT after->>'reason' AS reason FROM audit_events WHERE action = 'session.refused' ORDER BY id DESC LIMIT 1",
      );
      expect(row!.reason).toBe('authentication_too_weak');
    });

    it.each([
      ['one of acr_values as acr', 'acr', { acr: 'phr' }],
      ['one of amr_values in amr', 'amr', { amr: ['pwd', 'mfa'] }],
    ])('%s is enough; acr_values are asked for', async (_what, id, claims) => {
      const { asked, page } = await logIn(id, claims);
      expect(asked.searchParams.get('acr_values')).toBe('urn:example:mfa phr');
      expect(page.headers.get('location')).toBe('/account');
    });

    it('is judged again when the person authenticates again', async () => {
      const { browser } = await logIn('acr', { acr: 'phr' });
      const page = await browser.open('/account/confirm?return_to=/account/security');
      const again = leadsTo(await browser.submit(page, '/account/confirm'))!;
      expect(new URL(again).searchParams.get('acr_values')).toBe('urn:example:mfa phr');
      idp.faults.claims!.acr = undefined;
      expect((await browser.open(idp.callbackOf(again))).status).toBe(403);
    });
  });
});

describe('Through a provider whose auth_time is optional,', () => {
  const idp = new BrokenIdentityProvider();
  const provider = {
    id: 'untimed',
    label: 'Untimed',
    auth_time: 'optional',
    audience: ['users', 'operators'],
  };
  const service = useServiceWithProvider(idp, [provider]);
  const DELETE = '/account/delete';

  const come = async (browser: BrowserSession, place: Page, path: string): Promise<Page> =>
    browser.open(idp.callbackOf(leadsTo(await browser.submit(place, path))!));
  const logIn = async (user: UserEntity, auth_time: number | undefined): Promise<BrowserSession> => {
    idp.faults = { claims: { sub: user.id, email: user.email, auth_time } };
    const browser = new BrowserSession(service.url);
    await come(browser, await browser.open('/login'), '/login/providers/untimed');
    return browser;
  };
  const askedAt = (page: Page) => page.headers.get('location')?.split('?')[0];

  it('a driver has just logged in after coming from there, at the login and when asked again', async () => {
    const user = await service.make.user();
    const browser = await logIn(user, undefined);
    expect((await browser.open(DELETE)).status).toBe(200);
    await service.database.query(
      "UPDATE sessions SET authenticated_at = authenticated_at - interval '16 minutes' WHERE user_id = $1",
      [user.id],
    );
    const asking = await browser.open(DELETE);
    expect([asking.status, askedAt(asking)]).toEqual([303, '/account/confirm']);
    const page = await browser.open(asking.headers.get('location')!);
    expect((await come(browser, page, '/account/confirm')).headers.get('location')).toBe(DELETE);
    expect((await browser.open(DELETE)).status).toBe(200);
  });

  it('a time that is too old is still refused', async () => {
    const browser = await logIn(await service.make.user(), Math.floor(Date.now() / 1000) - 3600);
    const asking = await browser.open(DELETE);
    expect(askedAt(asking)).toBe('/account/confirm');
    const page = await browser.open(asking.headers.get('location')!);
    expect((await come(browser, page, '/account/confirm')).status).toBe(403);
    expect((await browser.open(DELETE)).status).toBe(303);
  });

  it('an operator without one has not', async () => {
    const user = await service.make.user({ role: 'operator' });
    const browser = await logIn(user, undefined);
    const asking = await browser.open(`/admin/console/users/${user.id}/erase`);
    expect([asking.status, askedAt(asking)]).toEqual([303, '/admin/console/confirm-password']);
    const page = await browser.open(asking.headers.get('location')!);
    expect((await come(browser, page, '/admin/console/confirm-password')).status).toBe(403);
  });
});
