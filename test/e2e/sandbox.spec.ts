import { planSession } from '../../src/sandbox/generator/plan-session.js';
import { SERVICE_ACTOR } from '../../src/audit/audit.service.js';
import { PlannedEventsWorker } from '../../src/sandbox/planned-events.worker.js';
import { ConsentsService } from '../../src/consents/consents.service.js';
import { BrowserSession } from '../support/browser-session.js';
import { PARTNER_SCOPES, PASSWORD, REDIRECT_URI, type TestClient } from '../support/factory.js';
import { expectOAuthError, refresh } from '../support/oauth.js';
import { unexpectedErrors } from '../support/refusals.js';
import {
  authorizeInSandbox,
  letSandboxTimePass,
  SandboxProgram,
  type SandboxDriver,
} from '../support/sandbox.js';
import { startService, type TestService } from '../support/test-service.js';
import { until } from '../support/until.js';
import { WEBHOOK_ENV, Webhooks } from '../support/webhooks.js';

const SESSION_TYPES = [
  'charging_session.created',
  'charging_session.updated',
  'charging_session.ended',
  'charging_sub_session.created',
  'charging_sub_session.ended',
  'vehicle.updated',
];
const UNKNOWN = 'user01HN2NJ9NMRZBXT1H6FT9N7735';

describe('The sandbox', () => {
  let service: TestService;
  let webhooks: Webhooks;
  let partner: SandboxProgram;
  let ownerId: string;

  beforeAll(async () => {
    // Two instances, whose workers publish side by side.
    service = await startService({ env: WEBHOOK_ENV, instances: 2 });
    webhooks = await Webhooks.start(service);
  });
  beforeEach(async () => {
    ownerId = (await service.make.user({ kind: 'organisation' })).id;
    partner = await SandboxProgram.start(service, { ownerId });
  });
  afterEach(() => expect(unexpectedErrors(service)).toEqual([]));
  afterAll(async () => {
    await webhooks.stop();
    await service.stop();
  });

  const statusOf = async (answer: Promise<{ status: number }>): Promise<number> => (await answer).status;
  const admin = (method: string, path: string, json?: unknown) =>
    service.http.send(path, { method, bearer: webhooks.bearer, json });
  const driverOf = async (program: SandboxProgram, id: string): Promise<SandboxDriver | undefined> =>
    ((await program.call('GET', 'drivers?page_size=100')).json as SandboxDriver[]).find(
      (each) => each.id === id,
    );
  const nothingWaits = (id: string): Promise<void> =>
    until('nothing waits', async () => (await driverOf(partner, id))?.waiting_events === 0);
  const published = (userId: string) =>
    service.database.query<{ type: string; payload: string; deliveries: number; realm: string }>(
      'SELECT type, payload, deliveries, realm FROM events WHERE user_id = $1 AND type NOT LIKE $2 ORDER BY id',
      [userId, 'user.%'],
    );
  const actionsOn = async (id: string): Promise<string[]> =>
    (
      await service.database.query<{ action: string }>(
        'SELECT action FROM audit_events WHERE subject_id = $1 ORDER BY id',
        [id],
      )
    ).map(({ action }) => action);

  it('gives a driver with a vehicle, a consent, and a session whose signed events arrive in order, each once', async () => {
    const driver = await partner.driver({ name: 'Robin', seed: 42 });
    expect(await driverOf(partner, driver.id)).toMatchObject({
      name: 'Robin',
      seed: 42,
      consented: true,
      scopes: PARTNER_SCOPES,
    });
    const endpoint = await webhooks.endpoint(partner.client, { types: SESSION_TYPES });
    const started = await partner.call('POST', `drivers/${driver.id}/sessions`, { speed: 60 });
    const plan = planSession({ seed: 42, number: 1, start: new Date(), speed: 60 });
    expect([started.status, started.json]).toEqual([202, { events: plan.length }]);
    expect((await driverOf(partner, driver.id))?.running).toBe(true);
    letSandboxTimePass(service, 12 * 60);
    await nothingWaits(driver.id);
    const events = await published(driver.id);
    expect(events.map(({ type }) => type)).toEqual(plan.map(({ type }) => type));
    expect(new Set(events.map(({ realm }) => realm))).toEqual(new Set([ownerId]));
    await webhooks.receives(endpoint, plan.length);
    const [first] = webhooks.received(endpoint);
    expect(first!.headers['webhook-signature']).toMatch(/^v1,/);
    expect((await driverOf(partner, driver.id))?.running).toBe(false);
    expect(await actionsOn(driver.id)).toEqual([
      'user.created',
      'consent.granted',
      'sandbox.session_started',
    ]);
    // A seed gives the same vehicle, and the next session differs.
    expect((await partner.driver({ seed: 42 })).vehicle.id).toBe(driver.vehicle.id);
    expect(await statusOf(partner.call('POST', `drivers/${driver.id}/sessions`))).toBe(202);
  });

  it('publishes past days with their own times and bursts at once, also after the instance that planned them is gone', async () => {
    const driver = await partner.driver({ seed: 5 });
    const workers = service.instances.map(({ app }) => app.get(PlannedEventsWorker, { strict: false }));
    for (const worker of workers) worker.beforeApplicationShutdown();
    const past = await partner.call('POST', `drivers/${driver.id}/past_days`, { days: 3 });
    const burst = await partner.call('POST', `drivers/${driver.id}/events`, { count: 60 });
    const total = (past.json.events as number) + (burst.json.events as number);
    expect((await driverOf(partner, driver.id))?.waiting_events).toBe(total);
    // As an instance does that starts.
    workers[1]!.onApplicationBootstrap();
    await nothingWaits(driver.id);
    workers[0]!.onApplicationBootstrap();
    const events = await published(driver.id);
    expect(events).toHaveLength(total);
    const times = events.map(({ payload }) =>
      Date.parse((JSON.parse(payload) as { timestamp: string }).timestamp),
    );
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(Date.now() - times[0]!).toBeGreaterThan(2 * 24 * 3600_000);
    expect(burst.json.events).toBe(60);
  });

  it('limits drivers, running sessions and waiting events, also when asked at once', async () => {
    const seeds = Array.from({ length: 52 }, (_each, n) => n + 1);
    const made = await Promise.all(seeds.map((seed) => partner.call('POST', 'drivers', { seed })));
    expect(made.filter(({ status }) => status === 201)).toHaveLength(50);
    expect(made.filter(({ status }) => status === 409)).toHaveLength(2);
    const [first, second] = made
      .filter(({ status }) => status === 201)
      .map(({ json }) => json as SandboxDriver);
    const starts = await Promise.all(
      [1, 2, 3].map(() => partner.call('POST', `drivers/${first!.id}/sessions`)),
    );
    expect(starts.map(({ status }) => status).sort()).toEqual([202, 409, 409]);
    for (const { app } of service.instances)
      app.get(PlannedEventsWorker, { strict: false }).beforeApplicationShutdown();
    const bursts = await Promise.all(
      [1, 2, 3, 4, 5].map(() => partner.call('POST', `drivers/${second!.id}/events`, { count: 500 })),
    );
    expect(bursts.map(({ status }) => status).sort()).toEqual([202, 202, 202, 409, 409]);
    for (const { app } of service.instances)
      app.get(PlannedEventsWorker, { strict: false }).onApplicationBootstrap();
    await nothingWaits(second!.id);
    expect(await published(second!.id)).toHaveLength(1500);
  });

  it.each([
    ['POST', 'drivers', { seed: 0 }, 400],
    ['POST', 'drivers', { seed: 2 ** 31 }, 400],
    ['POST', 'drivers', { name: 'a\u202eb' }, 400],
    ['POST', 'drivers/:id/sessions', { speed: 2 }, 400],
    ['POST', 'drivers/:id/past_days', {}, 400],
    ['POST', 'drivers/:id/past_days', { days: 31 }, 400],
    ['POST', 'drivers/:id/events', { count: 501 }, 400],
    ['PUT', 'drivers/:id/consent', { scopes: ['admin:read'] }, 400],
    ['POST', 'faults', { kind: '500' }, 400],
    ['POST', 'faults', { kind: '503', count: 101 }, 400],
    ['POST', 'faults', { kind: 'refresh', count: 2 }, 400],
    ['POST', `drivers/${UNKNOWN}/sessions`, {}, 404],
    ['DELETE', `drivers/${UNKNOWN}`, undefined, 404],
    ['DELETE', 'drivers/:id/consent', undefined, 404],
    ['GET', 'nothing', undefined, 404],
  ])('refuses %s %s with %j: %s', async (method, path, body, status) => {
    const { id } = await partner.driver({}, false);
    expect(await statusOf(partner.call(method, path.replace(':id', id), body))).toBe(status);
  });

  it('is not there for live clients, and not for the tokens of drivers', async () => {
    const live = await service.make.clientToken(await service.make.client());
    const { id } = await partner.driver();
    const driver = (await partner.tokens(id)).access_token;
    for (const [method, path] of [
      ['GET', 'drivers'],
      ['POST', 'drivers'],
      ['DELETE', `drivers/${id}`],
      ['POST', `drivers/${id}/sessions`],
      ['PUT', `drivers/${id}/consent`],
      ['POST', 'faults'],
    ] as const) {
      const send = (bearer: string) => service.http.send(`/v2/sandbox/${path}`, { method, bearer });
      expect([path, await statusOf(send(live))]).toEqual([path, 404]);
      expect([path, await statusOf(send(driver))]).toEqual([path, 403]);
    }
    expect(await statusOf(service.http.get('/v2/sandbox/drivers'))).toBe(401);
  });

  describe('on the authorization page', () => {
    const path = (client: TestClient) =>
      `/o/authorize/?${new URLSearchParams({ response_type: 'code', client_id: client.id, redirect_uri: REDIRECT_URI, state: 's' }).toString()}`;

    it('offers the drivers without a login, and issues tokens that see the driver only', async () => {
      const [one, other] = [
        await partner.driver({ name: 'One' }, false),
        await partner.driver({ name: 'Two' }),
      ];
      const page = await new BrowserSession(service.url).open(path(partner.client));
      expect([page.status, page.html.querySelector('.badge-warn')?.text]).toEqual([200, 'Sandbox']);
      expect(page.html.querySelectorAll('select[name=driver] option').map((each) => each.text)).toEqual([
        `One (seed ${one.seed})`,
        `Two (seed ${other.seed})`,
      ]);
      const { access_token: bearer } = await partner.tokens(one.id);
      const { json } = await service.http.get('/v2/users/me', { bearer });
      expect(json).toMatchObject({ id: one.id, name: 'One', scopes: PARTNER_SCOPES });
      expect(await actionsOn(one.id)).toEqual(['user.created', 'consent.granted']);
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
      for (const driver of [undefined, 'nobody', person.id, stranger.id, ownerId])
        expect([driver, await statusOf(decide('authorize', driver))]).toEqual([driver, 400]);
      expect(await statusOf(decide('something'))).toBe(400);
      const withoutToken = browser.open('/o/authorize/', {
        form: { request: path(partner.client).split('?')[1]!, decision: 'create_driver' },
      });
      expect(await statusOf(withoutToken)).toBe(403);
    });

    it('does not end with the login of a person, and a live page does not create drivers', async () => {
      const { id } = await partner.driver();
      const browser = await service.make.signedIn(await service.make.user());
      const page = await browser.open(path(partner.client));
      expect(page.html.querySelector('select')).not.toBeNull();
      const live = await service.make.client();
      const consent = await browser.open(path(live));
      expect(await statusOf(browser.submit(consent, '/o/authorize/', { decision: 'create_driver' }))).toBe(
        400,
      );
      await partner.call('DELETE', `drivers/${id}`);
      await expect(authorizeInSandbox(service, partner.client, id)).rejects.toThrow('400');
    });
  });

  describe('with faults', () => {
    const users = (bearer = partner.bearer) => service.http.get('/v2/users', { bearer });

    it('fails the next refresh as a revoked one, ends its grant, and no other', async () => {
      const { id } = await partner.driver();
      const [first, second] = [await partner.tokens(id), await partner.tokens(id)];
      expect((await partner.call('POST', 'faults', { kind: 'refresh' })).status).toBe(201);
      const failed = await refresh(service.http, partner.client, first.refresh_token);
      expectOAuthError(failed, 400, 'invalid_grant');
      expect(failed.json.error_description).toContain('was revoked');
      expect(await statusOf(users(first.access_token))).toBe(401);
      expectOAuthError(
        await refresh(service.http, partner.client, first.refresh_token),
        400,
        'invalid_grant',
      );
      const works = await refresh(service.http, partner.client, second.refresh_token);
      expect(works.status).toBe(200);
    });

    it('answers exactly the next requests, also simultaneous ones, as if they were real, and marks nothing else', async () => {
      expect((await partner.call('POST', 'faults', { kind: '503', count: 3 })).status).toBe(201);
      const answers = await Promise.all(Array.from({ length: 6 }, () => users()));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 503, 503, 503]);
      expect(answers.find(({ status }) => status === 503)!.headers.get('retry-after')).toBe('5');
      await partner.call('POST', 'faults', { kind: '401' });
      const expired = await users();
      expect([expired.status, expired.headers.get('www-authenticate')]).toEqual([
        401,
        expect.stringContaining('invalid_token'),
      ]);
      await partner.call('POST', 'faults', { kind: '401', count: 100 });
      await partner.call('POST', 'faults', { kind: '429' });
      const limited = await service.http.get('/notifications', { bearer: partner.bearer });
      expect(limited.status).toBe(429);
      expect(limited.json).toMatchObject({
        type: `${service.url}/v2/problems/rate-limit-exceeded/`,
        instance: `${service.url}/v2/users/${ownerId}`,
        notification: { category: 'RETRY' },
      });
      expect(await statusOf(users())).toBe(200);
      expect(
        (await actionsOn(partner.client.id)).filter((each) => each === 'sandbox.fault_set'),
      ).toHaveLength(4);
    });

    it('forgets those that were not used within an hour, and has none for other clients', async () => {
      const neighbour = await SandboxProgram.start(service, { ownerId });
      await partner.call('POST', 'faults', { kind: '503', count: 100 });
      expect(await statusOf(users(neighbour.bearer))).toBe(200);
      await service.database.query(
        "UPDATE sandbox_faults SET expires_at = expires_at - interval '1 hour' WHERE client_id = $1",
        [partner.client.id],
      );
      expect(await statusOf(users())).toBe(200);
    });
  });

  describe('in the admin API', () => {
    const newClient = (more: object) =>
      admin('POST', '/admin/clients', {
        name: 'Tried out',
        type: 'confidential',
        grant_types: ['client_credentials'],
        scopes: ['vehicle:read'],
        owner_id: ownerId,
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
      const { id } = await partner.driver({ name: `Unlisted ${ownerId}` });
      const users = async (query: string) =>
        (await admin('GET', `/admin/users?q=${encodeURIComponent(`Unlisted ${ownerId}`)}${query}`)).json as {
          id: string;
        }[];
      expect([await users(''), (await users('&environment=sandbox')).map((user) => user.id)]).toEqual([
        [],
        [id],
      ]);
      expect((await admin('GET', `/admin/users/${id}`)).json).toMatchObject({
        environment: 'sandbox',
        sandbox_owner_id: ownerId,
        email: expect.stringMatching(/@sandbox\.invalid$/) as string,
      });
      expect((await admin('GET', `/admin/users/${ownerId}`)).json).toMatchObject({
        environment: 'live',
        sandbox_owner_id: null,
      });
    });

    it.each([
      [{ environment: 'sandbox', trusted: true }, 'trusted'],
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
      const trusted = await admin('PATCH', `/admin/clients/${partner.client.id}`, { trusted: true });
      expect(trusted.json.field_errors).toHaveProperty('trusted');
    });

    it('joins nobody across environments or owners by consent', async () => {
      const { id: driver } = await partner.driver({}, false);
      const other = await SandboxProgram.start(service);
      const sibling = await SandboxProgram.start(service, { ownerId });
      const live = await service.make.client({ ownerId });
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
    const [live, own, other] = [await ops('live'), await ops('sandbox', ownerId), await ops('sandbox')];
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
    const publish = async (client: TestClient, userId: string) =>
      (await webhooks.publish(userId, {}, { bearer: await service.make.clientToken(client) })).status;
    expect([await publish(live, id), await publish(live, person.id)]).toEqual([400, 202]);
    expect([await publish(own, id), await publish(own, person.id)]).toEqual([202, 400]);
    expect([await publish(other, id), await publish(other, person.id)]).toEqual([400, 400]);
  });

  it('erases a driver as a user, tells the clients, and erases all with the owner', async () => {
    const driver = await partner.driver();
    const endpoint = await webhooks.endpoint(partner.client, { types: ['user.consent_revoked'] });
    await partner.call('POST', `drivers/${driver.id}/sessions`);
    const { access_token: bearer } = await partner.tokens(driver.id);
    expect(await statusOf(partner.call('DELETE', `drivers/${driver.id}`))).toBe(204);
    await webhooks.receives(endpoint);
    expect(await statusOf(service.http.get('/v2/users', { bearer }))).toBe(401);
    expect(await statusOf(partner.call('DELETE', `drivers/${driver.id}`))).toBe(404);
    const left = await partner.driver();
    expect(await statusOf(admin('DELETE', `/admin/users/${ownerId}`))).toBe(409);
    await admin('DELETE', `/admin/clients/${partner.client.id}`);
    expect(await statusOf(admin('DELETE', `/admin/users/${ownerId}`))).toBe(204);
    expect(await statusOf(admin('GET', `/admin/users/${left.id}`))).toBe(404);
  });

  it('lets a consent be withdrawn, after which events go nowhere', async () => {
    const driver = await partner.driver();
    await webhooks.endpoint(partner.client, { types: ['vehicle.updated', 'charging_session.updated'] });
    expect(await statusOf(partner.call('DELETE', `drivers/${driver.id}/consent`))).toBe(204);
    await partner.call('POST', `drivers/${driver.id}/events`, { count: 4 });
    await nothingWaits(driver.id);
    expect((await published(driver.id)).map(({ deliveries }) => deliveries)).toEqual([0, 0, 0, 0]);
    const scopes = ['vehicle:read'];
    const again = await partner.call('PUT', `drivers/${driver.id}/consent`, { scopes });
    expect(again.json).toMatchObject({ consented: true, scopes });
    await partner.call('POST', `drivers/${driver.id}/events`, { count: 4 });
    await nothingWaits(driver.id);
    expect((await published(driver.id)).map(({ deliveries }) => deliveries)).toEqual([
      0, 0, 0, 0, 1, 0, 1, 0,
    ]);
    await service.app.get(ConsentsService).revoke(partner.client.id, driver.id, SERVICE_ACTOR);
  });
});
