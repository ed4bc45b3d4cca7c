import type { NewClient } from '#access/clients/client.resource.js';
import { ConsentsService } from '#access/consents/consents.service.js';
import { authorizePath, type BrowserSession, type Page } from '../support/browser-session.js';
import { REDIRECT_URI, type TestClient } from '../support/factory.js';
import { madeForEach, madeOnce, placeOf, useSharedService } from '../support/spec.js';

const BOTH = ['charging_session:read', 'vehicle:read'];

describe('Optional scopes', () => {
  const service = useSharedService();
  const client = madeForEach(() => service.make.client({ optionalScopes: ['vehicle:read'] }));
  const user = madeOnce(() => service.make.user());
  const browser = madeOnce(() => service.make.signedIn(user));

  const open = (of: TestClient = client, by: BrowserSession = browser): Promise<Page> =>
    by.open(authorizePath({ response_type: 'code', client_id: of.id, redirect_uri: REDIRECT_URI }));
  const authorize = async (fields: Record<string, string | string[]>, of: TestClient = client) =>
    browser.submit(await open(of), '/o/authorize/', { decision: 'authorize', ...fields });
  const exchange = async (location: string, of: TestClient = client) =>
    (
      await service.http.token({
        grant_type: 'authorization_code',
        client_id: of.id,
        client_secret: of.secret,
        redirect_uri: REDIRECT_URI,
        code: new URL(location).searchParams.get('code')!,
      })
    ).json;
  const shared = async (of: TestClient = client) =>
    (await service.app.get(ConsentsService).findLive(of.id, user.id))?.scopes;
  const choose = async (chosen: string[], of: TestClient = client) =>
    browser.submit(
      await browser.open(`/account/applications/${of.id}/access`),
      `/account/applications/${of.id}/access`,
      { optional_scope: chosen },
    );

  it.each<[string, Partial<NewClient>]>([
    ['are no scopes of the client', { scopes: ['vehicle:read'], optionalScopes: ['charging_session:read'] }],
    ['are no names of scopes', { optionalScopes: ['Vehicle Read'] }],
    ['are named twice', { optionalScopes: ['vehicle:read', 'vehicle:read'] }],
  ])('are refused when they %s', async (_what, { scopes = BOTH, optionalScopes }) => {
    const owner = await service.make.user();
    const answer = await service.http.send('/admin/clients', {
      bearer: await service.make.adminToken(),
      json: {
        name: 'App',
        type: 'confidential',
        grant_types: ['authorization_code'],
        scopes,
        optional_scopes: optionalScopes,
        redirect_uris: [REDIRECT_URI],
        owner_id: owner.id,
      },
    });
    expect([answer.status, Object.keys(answer.json.field_errors as object)]).toEqual([
      400,
      ['optional_scopes'],
    ]);
  });

  it('are not chosen beforehand, and the others have no choice', async () => {
    const page = await open();
    expect(page.text.match(/<input type="checkbox"[^>]*>/g)).toEqual([
      expect.not.stringContaining('checked') as string,
    ]);
    expect(page.text).toContain('It may also read, if you choose it');
    expect((await open(await service.make.client())).text).not.toContain('type="checkbox"');
  });

  it('are given only if the user chooses them, and the token says what was given', async () => {
    const without = await authorize({});
    expect(await exchange(without.headers.get('location')!)).toMatchObject({
      scope: 'charging_session:read',
    });
    expect(await shared()).toEqual(['charging_session:read']);
    const withBoth = await authorize({ optional_scope: 'vehicle:read' });
    expect(await exchange(withBoth.headers.get('location')!)).toMatchObject({ scope: BOTH.join(' ') });
    expect(await shared()).toEqual(BOTH);
  });

  it('that were given are chosen on the page, and are taken back by not choosing them', async () => {
    await authorize({ optional_scope: 'vehicle:read' });
    expect((await open()).text).toMatch(/<input type="checkbox"[^>]*checked/);
    await authorize({ optional_scope: [] });
    expect(await shared()).toEqual(['charging_session:read']);
  });

  it.each(['charging_session:write', 'admin:read'])(
    'do not include %s, which was not asked for',
    async (scope) => {
      await authorize({ optional_scope: scope });
      expect(await shared()).toEqual(['charging_session:read']);
    },
  );

  it('need at least one if all are optional', async () => {
    const free = await service.make.client({ optionalScopes: BOTH });
    const answer = await authorize({}, free);
    expect(answer.status).toBe(422);
    expect(answer.text).toContain('Choose what the application may read, or cancel.');
    expect(await shared(free)).toBeUndefined();
  });

  describe('on the account page', () => {
    it('can be taken back alone, which ends what tokens may do with them at once', async () => {
      const location = (await authorize({ optional_scope: 'vehicle:read' })).headers.get('location')!;
      const { access_token } = await exchange(location);
      expect(placeOf(await choose([]))).toEqual([303, '/account']);
      expect(await shared()).toEqual(['charging_session:read']);
      const inspector = await service.make.adminToken(['token:introspect']);
      const introspected = await service.http.send('/o/introspect/', {
        bearer: inspector,
        form: { token: access_token as string },
      });
      expect(introspected.json).toMatchObject({ active: true, scope: 'charging_session:read' });
    });

    it('can be given later', async () => {
      await authorize({});
      await choose(['vehicle:read']);
      expect(await shared()).toEqual(BOTH);
    });

    it('cannot be widened to what the application does not let users choose', async () => {
      await authorize({});
      await service.make.updateClient(client, { optionalScopes: [] });
      await choose(['vehicle:read']);
      expect(await shared()).toEqual(['charging_session:read']);
    });

    it('cannot all be taken back: that is to disconnect the application', async () => {
      const free = await service.make.client({ optionalScopes: BOTH });
      await authorize({ optional_scope: BOTH }, free);
      const answer = await choose([], free);
      expect([answer.status, await shared(free)]).toEqual([422, BOTH]);
      expect(answer.text).toContain('or disconnect it');
    });

    it.each<[string, Partial<NewClient>, string[]]>([
      ['a choice', { optionalScopes: ['vehicle:read'] }, ['Change access']],
      ['an end', { optionalScopes: [], consentExpiryDays: 90 }, ['Renew']],
      ['both', { optionalScopes: ['vehicle:read'], consentExpiryDays: 90 }, ['Change access', 'Renew']],
    ])('have a link for what there is to do: %s', async (_what, options, names) => {
      const of = await service.make.client(options);
      await authorize({}, of);
      const found = (await browser.open('/account')).html
        .querySelectorAll(`a[href^="/account/applications/${of.id}/access"]`)
        .map((link) => ({ label: link.text.replace(` ${of.name}`, ''), to: link.getAttribute('href')! }));
      expect(found.map(({ label }) => label)).toEqual(names);
      const pages = await Promise.all(found.map(({ to }) => browser.open(to)));
      expect(pages.map(({ html }) => html.querySelector('h1')!.text)).toEqual(names);
      const buttons = pages.map(({ html }) => html.querySelector('main form .buttons button')!.text);
      expect([...new Set(buttons)]).toEqual(['Save']);
    });

    it('have no page without a consent, nor for others', async () => {
      expect((await browser.open(`/account/applications/${client.id}/access`)).status).toBe(404);
      await authorize({});
      const stranger = await service.make.signedInNew();
      expect((await stranger.open(`/account/applications/${client.id}/access`)).status).toBe(404);
    });

    it('are not changed by a page whose words have changed', async () => {
      await authorize({});
      const path = `/account/applications/${client.id}/access`;
      const page = await browser.open(path);
      await service.make.updateClient(client, { name: 'Another name' });
      const answer = await browser.submit(page, path, { optional_scope: 'vehicle:read' });
      expect([answer.status, await shared()]).toEqual([422, ['charging_session:read']]);
    });
  });

  describe('of a gatekeeper under the Digital Markets Act', () => {
    const gatekeeper = madeOnce(() => service.make.client({ gatekeeper: true }));

    it('and its other scopes cannot be given by users', async () => {
      const answer = await browser.open(
        authorizePath({
          response_type: 'code',
          client_id: gatekeeper.id,
          redirect_uri: REDIRECT_URI,
          state: 's',
        }),
      );
      const back = new URL(answer.headers.get('location')!).searchParams;
      expect([back.get('error'), back.get('state')]).toEqual(['unauthorized_client', 's']);
      expect(back.get('error_description')).toContain('gatekeeper');
    });

    it('nor by a page that was open when it became one', async () => {
      const page = await open();
      await service.make.updateClient(client, { gatekeeper: true });
      const answer = await browser.submit(page, '/o/authorize/', { decision: 'authorize' });
      const back = new URL(answer.headers.get('location')!).searchParams;
      expect([back.get('error'), await shared()]).toEqual(['unauthorized_client', undefined]);
    });

    it('are not offered for a change on the account page of someone who agreed before', async () => {
      await service.make.consent(client, user);
      const path = `/account/applications/${client.id}/access`;
      expect((await browser.open('/account')).text).toContain(path);
      await service.make.updateClient(client, { gatekeeper: true });
      const page = await browser.open('/account');
      expect(page.text).toContain(`/account/applications/${client.id}"`);
      expect(page.text).not.toContain(path);
    });

    it('nor recorded by operators', async () => {
      const answer = await service.http.send(`/admin/clients/${gatekeeper.id}/consents/${user.id}`, {
        method: 'PUT',
        bearer: await service.make.adminToken(),
        json: { scopes: BOTH },
      });
      expect([answer.status, answer.json.detail]).toEqual([409, expect.stringContaining('Article 5(3)')]);
    });
  });
});
