import type { ClientEntity } from '#access/clients/client.entity.js';
import type { ClientChanges } from '#access/clients/client.resource.js';
import { ConsentsService } from '#access/consents/consents.service.js';
import { authorizePath, type Page } from '../support/browser-session.js';
import { PARTNER_SCOPES, PASSWORD, REDIRECT_URI } from '../support/factory.js';
import { madeForEach, placeOf, useSharedService } from '../support/spec.js';

interface Event {
  action: string;
  actor_type: string;
  actor_id: string;
  address: string;
  request_id: string;
  before: unknown;
  after: unknown;
}

describe('The consent page', () => {
  const service = useSharedService();
  const client = madeForEach(() => service.make.client({ name: 'Northwind Smart Charging' }));
  const user = madeForEach(() => service.make.user({ name: 'Dana Driver' }));
  const browser = madeForEach(() => service.make.signedIn(user));

  const parametersOf = (
    of: ClientEntity = client,
    changes: Record<string, string> = {},
  ): Record<string, string> => ({
    response_type: 'code',
    client_id: of.id,
    redirect_uri: REDIRECT_URI,
    state: 's1',
    ...changes,
  });
  const openPage = async (parameters = parametersOf(), by = browser) => {
    const page = await by.open(authorizePath(parameters));
    expect(placeOf(page)).toEqual([200, null]);
    return page;
  };
  const decide = (page: Page, fields: Record<string, string> = {}, by = browser) =>
    by.submit(page, '/o/authorize/', { decision: 'authorize', ...fields });
  const update = (changes: ClientChanges): Promise<ClientEntity> =>
    service.make.updateClient(client, changes);
  const consentedScopes = async (of: ClientEntity = client): Promise<string[] | undefined> =>
    (await service.app.get(ConsentsService).findLive(of.id, user.id))?.scopes;
  const codeCount = async () =>
    (await service.database.query('SELECT 1 FROM authorization_codes WHERE client_id = $1', [client.id]))
      .length;
  const events = (): Promise<Event[]> =>
    service.database.query<Event>(
      `SELECT * FROM audit_events WHERE subject_id = $1 AND action LIKE 'consent.%' ORDER BY id`,
      [user.id],
    );
  /** The page is shown, and nothing is done. */
  const expectShownAgain = (answer: Page): void =>
    expect([answer.status, answer.html.querySelector('[role=alert]')?.text.trim()]).toEqual([
      422,
      'This page was out of date, so nothing was decided. Please read it and decide again.',
    ]);
  const expectNothingGiven = async () =>
    expect([await consentedScopes(), await codeCount(), await events()]).toEqual([undefined, 0, []]);

  describe('refuses', () => {
    it.each(['', 'yes', 'Authorize'])('the decision %j with a page', async (decision) => {
      expect(placeOf(await decide(await openPage(), { decision }))).toEqual([400, null]);
      await expectNothingGiven();
    });

    it('a form without the authorization request that it was shown for', async () => {
      expect((await decide(await openPage(), { request: '' })).status).toBe(400);
      await expectNothingGiven();
    });

    it.each([
      ['more scopes', { scope: 'charging_session:read vehicle:read' }],
      ['another state', { state: 's2' }],
      ['another redirect URI', { redirect_uri: 'https://app.example/second' }],
      ['a challenge', { code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' }],
    ])('a request that was changed after the page was shown: %s', async (_what, changes) => {
      await update({ redirectUris: [REDIRECT_URI, 'https://app.example/second'] });
      const shown = parametersOf(client, { scope: 'charging_session:read' });
      const page = await openPage(shown);
      const request = new URLSearchParams({ ...shown, ...changes }).toString();
      expectShownAgain(await decide(page, { request }));
      await expectNothingGiven();
    });

    it('a request that was changed to another client', async () => {
      const page = await openPage(parametersOf(await service.make.client()));
      const request = new URLSearchParams(parametersOf()).toString();
      expectShownAgain(await decide(page, { request }));
      await expectNothingGiven();
    });

    it('the form that was shown to another user in the same browser', async () => {
      const shared = await service.make.signedInNew();
      const page = await openPage(undefined, shared);
      await shared.submit(page, '/logout');
      await shared.logIn(user.email, PASSWORD);
      expectShownAgain(await decide(page, {}, shared));
      await expectNothingGiven();
    });

    it('the form of another session of the same user', async () => {
      const page = await openPage();
      await browser.submit(page, '/logout');
      await browser.logIn(user.email, PASSWORD);
      const again = await decide(page);
      expectShownAgain(again);
      const elsewhere = await service.make.signedIn(user);
      await openPage(undefined, elsewhere);
      expectShownAgain(await decide(page, {}, elsewhere));
      await expectNothingGiven();
      // The request is not lost.
      expect((await decide(again)).headers.get('location')).toMatch(
        /^https:\/\/app\.example\/callback\?code=/,
      );
    });

    it('the form after logout, and redirects to the login page', async () => {
      const page = await openPage();
      await browser.submit(page, '/logout');
      const answer = await decide(page);
      expect([answer.status, answer.headers.get('location')?.split('=')[0]]).toEqual([
        303,
        '/login?return_to',
      ]);
      await expectNothingGiven();
    });

    it.each([
      ['client is disabled', { enabled: false }],
      ['redirect URI is removed', { redirectUris: ['https://app.example/new'] }],
    ] satisfies [string, ClientChanges][])(
      'the form with a page if the %s in the meantime',
      async (_what, changes) => {
        const page = await openPage();
        await update(changes);
        expect(placeOf(await decide(page))).toEqual([400, null]);
        expect((await browser.submit(page, '/o/authorize/', { decision: 'cancel' })).status).toBe(400);
        await expectNothingGiven();
      },
    );

    it('the form with a redirect if the client has lost the grant type in the meantime', async () => {
      const page = await openPage();
      await update({ grantTypes: ['client_credentials'] });
      const answer = await decide(page);
      const location = new URL(answer.headers.get('location')!);
      expect([answer.status, location.searchParams.get('error')]).toEqual([303, 'unauthorized_client']);
      await expectNothingGiven();
    });

    it('the form if the user has been disabled in the meantime', async () => {
      const page = await openPage();
      await service.make.setEnabled(user, false);
      expect((await decide(page)).headers.get('location')).toMatch(/^\/login\?/);
      await expectNothingGiven();
    });
  });

  it('redirects with access_denied when cancelled, and leaves an earlier consent unchanged', async () => {
    const location = await browser.authorize(parametersOf(), 'cancel');
    expect(Object.fromEntries(location.searchParams)).toMatchObject({
      error: 'access_denied',
      state: 's1',
      iss: service.settings.baseUrl,
    });
    expect(location.searchParams.has('code')).toBe(false);
    await expectNothingGiven();
    await browser.authorize(parametersOf());
    await browser.authorize(parametersOf(), 'cancel');
    expect(await consentedScopes()).toEqual(PARTNER_SCOPES);
  });

  it('names the application, the person and each scope in words, at every authorization', async () => {
    const first = await openPage(parametersOf(client, { scope: 'vehicle:read' }));
    const text = first.html.querySelector('main')!.text;
    for (const part of [
      'Northwind Smart Charging',
      'Dana Driver',
      user.email,
      'app.example',
      'vehicle:read',
    ]) {
      expect(text).toContain(part);
    }
    expect(text).toContain('See your vehicles: make, model, battery level and whether they are plugged in');
    expect(text).not.toContain('charging_session:read');
    expect(text).not.toContain('Already authorized');
    await decide(first);
    const items = (await openPage()).html.querySelectorAll('.scopes > li').map((item) => item.text);
    expect(items.map((item) => item.includes('Already authorized'))).toEqual([false, true]);
    expect(items[0]).toContain('See your charging sessions');
  });

  it('mentions the webhook portal only to the owner of a confidential client', async () => {
    const ownClient = await service.make.client({ ownerId: user.id });
    const ownApp = await service.make.client({ ownerId: user.id, type: 'public' });
    const textFor = async (of: ClientEntity, changes = {}) =>
      (await openPage(parametersOf(of, changes))).html.text;
    const pkce = { code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' };
    expect(await textFor(ownClient)).toMatch(/webhook portal/);
    expect(await textFor(client)).not.toMatch(/webhook/);
    expect(await textFor(ownApp, pkce)).not.toMatch(/webhook/);
  });

  it('escapes text chosen by others: the names of application and person, and the request itself', async () => {
    const markup = `"><script>alert('x')</script>&amp;`;
    const hostile = await service.make.client({ name: markup });
    const by = await service.make.signedInNew({ name: markup });
    const page = await openPage(parametersOf(hostile, { state: markup }), by);
    expect(page.html.querySelector('script')).toBeNull();
    expect(page.html.querySelector('h1')!.text).toContain(markup);
    const answer = await decide(page, {}, by);
    expect(new URL(answer.headers.get('location')!).searchParams.get('state')).toBe(markup);
  });

  it.each([
    // What a web page at the redirect URI redirects on to is not known here.
    [REDIRECT_URI, undefined],
    ['http://127.0.0.1:49152/callback', undefined],
    ['com.example.app:/callback', "form-action 'self' com.example.app:"],
  ])('lets its form end at %s, and allows neither frames nor scripts', async (uri, formAction) => {
    const app = await service.make.client({ type: 'public', redirectUris: [uri] });
    const pkce = { code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' };
    const page = await openPage(parametersOf(app, { redirect_uri: uri, ...pkce }));
    const directives = page.headers.get('content-security-policy')!.split('; ');
    expect(directives.find((each) => each.startsWith('form-action'))).toBe(formAction);
    expect(directives).toEqual(expect.arrayContaining(["default-src 'none'", "frame-ancestors 'none'"]));
    expect(directives.join()).not.toMatch(/unsafe|script-src|\*/);
    expect(page.headers.get('x-frame-options')).toBe('DENY');
    expect(page.text).not.toMatch(/<script|<[^>]+ (style|on[a-z]+)=/i);
  });

  describe('once approved', () => {
    it('adds scopes and never removes any, with an audit event for each change', async () => {
      await browser.authorize(parametersOf(client, { scope: 'vehicle:read' }));
      expect(await consentedScopes()).toEqual(['vehicle:read']);
      await browser.authorize(parametersOf(client, { scope: 'charging_session:read' }));
      await browser.authorize(parametersOf(client, { scope: 'vehicle:read' }));
      expect(await consentedScopes()).toEqual(PARTNER_SCOPES);
      const [granted, updated, ...more] = await events();
      const by = { actor_type: 'user', actor_id: user.id, address: '127.0.0.1' };
      const after = { client_id: client.id, scopes: ['vehicle:read'] };
      expect(granted).toMatchObject({ ...by, action: 'consent.granted', before: null, after });
      expect(granted!.request_id).toBeTruthy();
      expect(updated).toMatchObject({ ...by, action: 'consent.updated' });
      expect(updated!.before).toMatchObject({ scopes: ['vehicle:read'] });
      expect(updated!.after).toMatchObject({ scopes: PARTNER_SCOPES });
      expect(more).toEqual([]);
    });

    it('starts after a withdrawal with only the requested scopes', async () => {
      await browser.authorize(parametersOf());
      await service.make.revokeConsent(client, user);
      await browser.authorize(parametersOf(client, { scope: 'vehicle:read' }));
      expect(await consentedScopes()).toEqual(['vehicle:read']);
    });
  });
});
