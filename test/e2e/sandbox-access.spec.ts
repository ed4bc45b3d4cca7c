import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { MembersService } from '#events/partners/members/members.service.js';
import { actionsOn } from '../support/audit-events.js';
import { authorizePath, BrowserSession } from '../support/browser-session.js';
import { PARTNER_SCOPES, PASSWORD, REDIRECT_URI, type TestClient } from '../support/factory.js';
import { madeForEach, unexpectedErrors, useSharedService } from '../support/spec.js';
import { authorizeInSandbox, SandboxProgram, type SandboxDriver } from '../support/sandbox.js';

const UNKNOWN = 'user01HN2NJ9NMRZBXT1H6FT9N7735';

describe('Access to the sandbox', () => {
  const service = useSharedService();
  let operator: string;

  beforeAll(async () => (operator = await service.make.adminToken()));
  const owner = madeForEach(() => service.make.user({ kind: 'organisation' }));
  const partner = madeForEach(() => SandboxProgram.start(service, { ownerId: owner.id }));
  afterEach(() => expect(unexpectedErrors(service)).toEqual([]));

  const statusOf = async (answer: Promise<{ status: number }>): Promise<number> => (await answer).status;
  const admin = (method: string, path: string, json?: unknown) =>
    service.http.send(path, { method, bearer: operator, json });

  describe('on the authorization page', () => {
    const path = ({ id }: TestClient) =>
      authorizePath({ response_type: 'code', client_id: id, redirect_uri: REDIRECT_URI, state: 's' });

    it('offers the drivers without a login, and issues tokens that see the driver only', async () => {
      const one = await partner.driver({ name: 'One' }, false);
      await partner.driver({ name: 'Two' });
      const page = await new BrowserSession(service.url).open(path(partner.client));
      expect([page.status, page.html.querySelector('.badge-warn')?.text]).toEqual([200, 'Sandbox']);
      expect(page.html.querySelectorAll('select[name=driver] option').map((each) => each.text)).toEqual([
        'Driver 1',
        'Driver 2',
      ]);
      const { access_token: bearer } = await partner.tokens(one.id);
      const { json } = await service.http.get('/v2/users/me', { bearer });
      expect(json).toMatchObject({ id: one.id, name: 'One', scopes: PARTNER_SCOPES });
      expect(await actionsOn(service, one.id)).toEqual(['user.created', 'consent.granted']);
    });

    it('cancels, creates the first driver once, and refuses what the page does not offer', async () => {
      const browser = new BrowserSession(service.url);
      const empty = await browser.open(path(partner.client));
      expect(empty.html.querySelector('select')).toBeNull();
      const decide = (decision: string, driver?: string) =>
        browser.submit(empty, '/o/authorize/', { decision, driver });
      const made = await Promise.all([decide('create_driver'), decide('create_driver')]);
      expect(made.map(({ status }) => status)).toEqual([303, 303]);
      expect(made[0].headers.get('location')).toBe(path(partner.client));
      const drivers = (await partner.call('GET', 'drivers')).json as SandboxDriver[];
      expect(drivers).toHaveLength(1);
      const cancelled = new URL((await decide('cancel')).headers.get('location')!);
      expect(Object.fromEntries(cancelled.searchParams)).toMatchObject({
        error: 'access_denied',
        state: 's',
      });
      const person = await service.make.user();
      const stranger = await (await SandboxProgram.start(service)).driver();
      for (const driver of [undefined, 'nobody', person.id, stranger.id, owner.id])
        expect([driver, await statusOf(decide('authorize', driver))]).toEqual([driver, 400]);
      expect(await statusOf(decide('something'))).toBe(400);
      const withoutToken = browser.open('/o/authorize/', {
        form: { request: path(partner.client).split('?')[1]!, decision: 'create_driver' },
      });
      expect(await statusOf(withoutToken)).toBe(422);
    });

    it('does not end with the login of a person, and a live page does not create drivers', async () => {
      const { id } = await partner.driver();
      const browser = await service.make.signedIn(await service.make.user());
      expect((await browser.open(path(partner.client))).html.querySelector('select')).not.toBeNull();
      const consent = await browser.open(path(await service.make.client()));
      expect(await statusOf(browser.submit(consent, '/o/authorize/', { decision: 'create_driver' }))).toBe(
        400,
      );
      await partner.call('DELETE', `drivers/${id}`);
      await expect(authorizeInSandbox(service, partner.client, id)).rejects.toThrow('400');
    });
  });

  describe('by the names of drivers on the authorization page, which', () => {
    const NAMES = ['Grace of the second branch', 'Ada, who always cancels'];
    let drivers: SandboxDriver[];
    let path: string;

    beforeEach(async () => {
      drivers = [];
      // Seeds that no other number of the page contains by chance.
      for (const [n, name] of NAMES.entries())
        drivers.push(await partner.driver({ name, seed: 987_654_321 - n }, false));
      const request = { response_type: 'code', client_id: partner.client.id, redirect_uri: REDIRECT_URI };
      path = authorizePath(request);
    });

    const offeredTo = async (browser: BrowserSession) => {
      const page = await browser.open(path);
      const options = page.html.querySelectorAll('select[name=driver] option');
      return {
        page,
        labels: options.map((each) => each.text),
        values: options.map((each) => each.getAttribute('value')),
      };
    };

    it('are not shown to strangers, who choose by number and may log in', async () => {
      const browser = new BrowserSession(service.url);
      const { page, labels, values } = await offeredTo(browser);
      expect(labels).toEqual(['Driver 1', 'Driver 2']);
      expect(values).toEqual(drivers.map(({ id }) => id));
      for (const text of [...NAMES, ...drivers.map(({ seed }) => String(seed))])
        expect(page.text).not.toContain(text);
      const login = page.html.querySelector('main a[href^="/login?"]')!.getAttribute('href')!;
      expect(new URLSearchParams(login.split('?')[1]).get('return_to')).toBe(path);
      const answer = await browser.submit(page, '/o/authorize/', {
        driver: drivers[1]!.id,
        decision: 'authorize',
      });
      expect(new URL(answer.headers.get('location')!).searchParams.get('code')).toMatch(/^cds_ac_/);
    });

    it('are not shown to people of others, operators included', async () => {
      const others = [
        await service.make.user(),
        await service.make.user({ kind: 'organisation' }),
        await service.make.user({ role: 'operator' }),
      ];
      for (const user of others) {
        const { page, labels } = await offeredTo(await service.make.signedIn(user));
        expect(labels).toEqual(['Driver 1', 'Driver 2']);
        expect(page.html.querySelector('main a[href^="/login?"]')).toBeNull();
      }
    });

    it('are shown to the owner and to members, with every role, for as long as they are', async () => {
      const names = drivers.map(({ name, seed }) => `${name} (seed ${seed})`);
      expect((await offeredTo(await service.make.signedIn(owner))).labels).toEqual(names);
      const members = service.app.get(MembersService);
      const viewer = await service.make.user();
      await members.add(owner.id, viewer.id, 'viewer', SERVICE_ACTOR);
      const browser = await service.make.signedIn(viewer);
      expect((await offeredTo(browser)).labels).toEqual(names);
      await members.remove(owner.id, viewer.id, SERVICE_ACTOR);
      expect((await offeredTo(browser)).labels).toEqual(['Driver 1', 'Driver 2']);
    });
  });

  describe('in the admin API', () => {
    const newClient = (more: object) =>
      admin('POST', '/admin/clients', {
        name: 'Tried out',
        type: 'confidential',
        grant_types: ['client_credentials'],
        scopes: ['vehicle:read'],
        owner_id: owner.id,
        ...more,
      });

    it('is fixed when a client is created, shown everywhere, and filtered by', async () => {
      const made = await newClient({ environment: 'sandbox' });
      expect([made.status, made.json.environment]).toEqual([201, 'sandbox']);
      const path = `/admin/clients/${made.json.client_id as string}`;
      expect((await admin('PATCH', path, { environment: 'live' })).json.field_errors).toHaveProperty(
        'environment',
      );
      expect((await newClient({})).json.environment).toBe('live');
      const list = async (query: string) =>
        (await admin('GET', `/admin/clients?q=Tried&page_size=100&${query}`)).json.map(
          (each: { environment: string }) => each.environment,
        ) as string[];
      expect(new Set(await list('environment=live'))).toEqual(new Set(['live']));
      expect(new Set(await list('environment=sandbox'))).toEqual(new Set(['sandbox']));
      expect(new Set(await list(''))).toEqual(new Set(['live', 'sandbox']));
      expect(await statusOf(admin('GET', '/admin/clients?environment=test'))).toBe(400);
      const { id } = await partner.driver({ name: `Unlisted ${owner.id}` });
      const users = async (query: string) => {
        const { json } = await admin('GET', `/admin/users?q=Unlisted%20${owner.id}${query}`);
        return (json as { id: string }[]).map((user) => user.id);
      };
      expect([await users(''), await users('&environment=sandbox')]).toEqual([[], [id]]);
      expect((await admin('GET', `/admin/users/${id}`)).json).toMatchObject({
        environment: 'sandbox',
        sandbox_owner_id: owner.id,
        email: expect.stringMatching(/@sandbox\.invalid$/) as string,
      });
      expect((await admin('GET', `/admin/users/${owner.id}`)).json).toMatchObject({
        environment: 'live',
        sandbox_owner_id: null,
      });
    });

    it.each([
      [{ environment: 'sandbox', scopes: ['admin:read'] }, 'scopes'],
      [{ environment: 'sandbox', scopes: ['admin:write'] }, 'scopes'],
      [{ environment: 'test' }, 'environment'],
    ])('refuses a client with %j', async (more, member) => {
      const answer = await newClient(more);
      expect([answer.status, Object.keys(answer.json.field_errors as object)]).toEqual([400, [member]]);
    });

    it('leaves drivers nothing to log in with, and nothing to own', async () => {
      const { id } = await partner.driver();
      const path = `/admin/users/${id}`;
      for (const changes of [
        { email: 'driver@mail.example' },
        { language: 'de' },
        { password: PASSWORD },
        { email_verified: true },
        { role: 'operator' },
        { operator_role: 'admin' },
        { webhooks_enabled: false },
        { environment: 'live' },
      ]) {
        const answer = await admin('PATCH', path, changes);
        expect([changes, answer.status, Object.keys(answer.json.field_errors as object)]).toEqual([
          changes,
          400,
          Object.keys(changes),
        ]);
      }
      expect((await admin('PATCH', path, { name: 'Renamed' })).json.name).toBe('Renamed');
      expect(await statusOf(admin('POST', `${path}/password_links`))).toBe(409);
      expect((await newClient({ owner_id: id })).json.field_errors).toHaveProperty('owner_id');
    });

    it('joins nobody across environments or owners by consent', async () => {
      const { id: driver } = await partner.driver({}, false);
      const other = await SandboxProgram.start(service);
      const sibling = await SandboxProgram.start(service, { ownerId: owner.id });
      const live = await service.make.client({ ownerId: owner.id });
      const person = (await service.make.user()).id;
      const consent = (client: TestClient, user: string) =>
        statusOf(admin('PUT', `/admin/clients/${client.id}/consents/${user}`, { scopes: ['vehicle:read'] }));
      expect(await consent(live, driver)).toBe(409);
      expect(await consent(other.client, driver)).toBe(409);
      expect(await consent(partner.client, person)).toBe(409);
      expect(await consent(partner.client, UNKNOWN)).toBe(404);
      expect(await consent(sibling.client, driver)).toBe(200);
    });
  });

  it('tells nothing of its tokens and users to live services, nor of others to its own', async () => {
    const ops = (environment: 'live' | 'sandbox', owner?: string) =>
      service.make.client({
        scopes: ['event:publish', 'token:introspect'],
        grantTypes: ['client_credentials'],
        redirectUris: [],
        environment,
        ...(owner === undefined ? {} : { ownerId: owner }),
      });
    const [live, own, other] = [await ops('live'), await ops('sandbox', owner.id), await ops('sandbox')];
    const { id } = await partner.driver();
    const person = await service.make.user();
    const liveClient = await service.make.client();
    await service.make.consent(liveClient, person);
    const tokens = [
      (await partner.tokens(id)).access_token,
      partner.bearer,
      await service.make.clientToken(liveClient),
    ];
    const active = async (client: TestClient, byToken: boolean) => {
      const bearer = byToken ? await service.make.clientToken(client) : undefined;
      const answers = tokens.map((token) =>
        service.http.send('/o/introspect', { form: { token }, bearer, basic: byToken ? undefined : client }),
      );
      return (await Promise.all(answers)).map(({ json }) => json.active as boolean);
    };
    for (const byToken of [true, false]) {
      expect(await active(live, byToken)).toEqual([false, false, true]);
      expect(await active(own, byToken)).toEqual([true, true, false]);
      expect(await active(other, byToken)).toEqual([false, false, false]);
    }
    const publish = async (client: TestClient, userId: string) => {
      const json = { type: 'vehicle.updated', user_id: userId, timestamp: '2026-01-01T00:00:00Z', data: {} };
      const bearer = await service.make.clientToken(client);
      return statusOf(service.http.send('/v2/events', { bearer, json }));
    };
    expect([await publish(live, id), await publish(live, person.id)]).toEqual([400, 202]);
    expect([await publish(own, id), await publish(own, person.id)]).toEqual([202, 400]);
    expect([await publish(other, id), await publish(other, person.id)]).toEqual([400, 400]);
  });
});
