import { planSession } from '#events/sandbox/generator/plan-session.js';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { RequestLogService } from '#events/partners/request-log/request-log.service.js';
import { ActivityService } from '#records/activity/activity.service.js';
import { ConsentsService } from '#access/consents/consents.service.js';
import { actionsOn } from '../support/audit-events.js';
import { enterPortal, PARTNER_SCOPES, unexpectedErrors, until, useSharedService } from '../support/spec.js';
import { expectOAuthError, refresh } from '../support/oauth.js';
import { tally } from '../support/rate-limits.js';
import {
  endSandboxes,
  letSandboxTimePass,
  SandboxProgram,
  stopPlannedEvents,
  type SandboxDriver,
} from '../support/sandbox.js';
import { madeForEach, madeOnce } from '../support/made.js';
import { WEBHOOK_ENV, Webhooks } from '../support/webhooks.js';
import { listOf } from '../support/list-of.js';

const SESSION_TYPES = listOf(`
  charging_session.created, charging_session.updated, charging_session.ended, charging_sub_session.created,
  charging_sub_session.ended, vehicle.updated
`);
const UNKNOWN = 'user01HN2NJ9NMRZBXT1H6FT9N7735';

// Two instances, whose workers publish side by side.
const service = useSharedService({ env: WEBHOOK_ENV, instances: 2 });
const webhooks = Webhooks.setUp(service);
afterAll(() => endSandboxes(service));

const statusOf = async (answer: Promise<{ status: number }>): Promise<number> => (await answer).status;

describe('The sandbox refuses', () => {
  const partner = madeOnce(() => SandboxProgram.start(service));
  const driver = madeOnce(() => partner.driver({}, false));

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
  ])('%s %s with %j: %s', async (method, path, body, status) => {
    expect(await statusOf(partner.call(method, path.replace(':id', driver.id), body))).toBe(status);
  });
});

describe('The sandbox', () => {
  const owner = madeForEach(() => service.make.user({ kind: 'organisation' }));
  const partner = madeForEach(() => SandboxProgram.start(service, { ownerId: owner.id }));
  afterEach(() => expect(unexpectedErrors(service)).toEqual([]));

  const admin = (method: string, path: string, json?: unknown) =>
    service.http.send(path, { method, bearer: webhooks.bearer, json });
  const driverOf = async (program: SandboxProgram, id: string): Promise<SandboxDriver | undefined> =>
    ((await program.call('GET', 'drivers?page_size=100')).json as SandboxDriver[]).find(
      (each) => each.id === id,
    );
  const nothingWaits = async (id: string): Promise<void> => {
    const waiting = 'SELECT count(*)::int FROM sandbox_planned_events WHERE user_id = $1';
    await until('nothing waits', async () => (await service.database.value<number>(waiting, [id])) === 0);
    expect((await driverOf(partner, id))?.waiting_events).toBe(0);
  };
  const published = (userId: string) =>
    service.database.query<{ type: string; payload: string; deliveries: number; realm: string }>(
      'SELECT type, payload, deliveries, realm FROM events WHERE user_id = $1 AND type NOT LIKE $2 ORDER BY id',
      [userId, 'user.%'],
    );
  const feedOf = async (bearer: string): Promise<string[]> =>
    ((await service.http.get('/v2/events?page_size=100', { bearer })).json as { type: string }[]).map(
      ({ type }) => type,
    );

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
    expect(new Set(events.map(({ realm }) => realm))).toEqual(new Set([owner.id]));
    // Numbered as those of services are, and in the feed of the sandbox's clients that have the consent.
    const numbers = events
      .filter(({ type }) => type.startsWith('charging_session.'))
      .map(({ payload }) => (JSON.parse(payload) as { sequence?: number }).sequence);
    expect(numbers).toEqual(numbers.map((_each, n) => n + 1));
    const neighbour = await SandboxProgram.start(service, { ownerId: owner.id });
    const live = await service.make.clientToken(await service.make.client({ ownerId: owner.id }));
    let ownFeed: string[] = [];
    // Other databases of the same server can hold events up for a moment.
    await until('the feed shows the events', async () => {
      ownFeed = (await feedOf(partner.bearer)).filter((type) => !type.startsWith('user.'));
      return ownFeed.length >= plan.length;
    });
    expect(ownFeed).toEqual(plan.map(({ type }) => type));
    expect([await feedOf(neighbour.bearer), await feedOf(live)]).toEqual([[], []]);
    await webhooks.receives(endpoint, plan.length);
    const [first] = webhooks.received(endpoint);
    expect(first!.headers['webhook-signature']).toMatch(/^v1,/);
    expect((await driverOf(partner, driver.id))?.running).toBe(false);
    expect(await actionsOn(service, driver.id)).toEqual([
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
    const workers = await stopPlannedEvents(service);
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
    const made = seeds.map((seed) => partner.call('POST', 'drivers', { seed }));
    expect(await tally(made)).toEqual({ 201: 50, 409: 2 });
    const [first, second] = (await partner.call('GET', 'drivers')).json as SandboxDriver[];
    const start = () => partner.call('POST', `drivers/${first!.id}/sessions`);
    expect(await tally([1, 2, 3].map(start))).toEqual({ 202: 1, 409: 2 });
    const workers = await stopPlannedEvents(service);
    const burst = () => partner.call('POST', `drivers/${second!.id}/events`, { count: 500 });
    expect(await tally([1, 2, 3, 4, 5].map(burst))).toEqual({ 202: 3, 409: 2 });
    expect((await driverOf(partner, second!.id))?.waiting_events).toBe(1500);
    await service.database.query('DELETE FROM sandbox_planned_events WHERE user_id = $1', [second!.id]);
    for (const worker of workers) worker.onApplicationBootstrap();
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

  describe('with faults', () => {
    const users = (bearer = partner.bearer) => service.http.get('/v2/users', { bearer });
    const flush = async (): Promise<void> => {
      for (const { app } of service.instances) {
        await app.get(RequestLogService, { strict: false }).flush();
        await app.get(ActivityService, { strict: false }).flush();
      }
    };

    it('fails the next refresh as a revoked one, ends its grant, and no other', async () => {
      const { id } = await partner.driver();
      const [first, second] = [await partner.tokens(id), await partner.tokens(id)];
      expect((await partner.call('POST', 'faults', { kind: 'refresh' })).status).toBe(201);
      const failed = await refresh(service.http, partner.client, first.refresh_token);
      expectOAuthError(failed, 400, 'invalid_grant');
      expect(failed.json.error_description).toContain('was revoked');
      expect(await statusOf(users(first.access_token))).toBe(401);
      const again = await refresh(service.http, partner.client, first.refresh_token);
      expectOAuthError(again, 400, 'invalid_grant');
      expect((await refresh(service.http, partner.client, second.refresh_token)).status).toBe(200);
    });

    it('marks the refresh that failed in the request log and among the refusals, and nothing else', async () => {
      const { id } = await partner.driver();
      const { refresh_token: token } = await partner.tokens(id);
      await partner.call('POST', 'faults', { kind: 'refresh' });
      for (const expected of [400, 400])
        expect((await refresh(service.http, partner.client, token)).status).toBe(expected);
      await flush();
      const logged = await service.database.query<{ status: number; injected: boolean }>(
        `SELECT status, injected FROM client_requests WHERE client_id = $1 AND route LIKE '/o/token%' AND status = 400
          ORDER BY injected`,
        [partner.client.id],
      );
      expect(logged).toEqual([
        { status: 400, injected: false },
        { status: 400, injected: true },
      ]);
      const portal = await enterPortal(service, partner.client);
      const requests = await portal.open('/portal/requests');
      expect(requests.html.text.match(/made to fail in the sandbox/g)).toHaveLength(1);
      const refusals = await portal.open('/portal/refusals');
      expect(refusals.html.text).toContain('Someone asked in the sandbox for this refresh to fail.');
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
        instance: `${service.url}/v2/users/${owner.id}`,
        notification: { category: 'RETRY' },
      });
      expect(await statusOf(users())).toBe(200);
      await flush();
      const logged = await service.database.query<{ status: number; injected: boolean }>(
        "SELECT status, injected FROM client_requests WHERE client_id = $1 AND method = 'GET' ORDER BY status",
        [partner.client.id],
      );
      expect(logged.map(({ status, injected }) => [status, injected])).toEqual([
        ...[200, 200, 200, 200].map((status) => [status, false]),
        ...[401, 429, 503, 503, 503].map((status) => [status, true]),
      ]);
      const actions = await actionsOn(service, partner.client.id);
      expect(actions.filter((each) => each === 'sandbox.fault_set')).toHaveLength(4);
    });

    it('forgets those that were not used within an hour, and has none for other clients', async () => {
      const neighbour = await SandboxProgram.start(service, { ownerId: owner.id });
      await partner.call('POST', 'faults', { kind: '503', count: 100 });
      expect(await statusOf(users(neighbour.bearer))).toBe(200);
      await service.database.query(
        "UPDATE sandbox_faults SET expires_at = expires_at - interval '1 hour' WHERE client_id = $1",
        [partner.client.id],
      );
      expect(await statusOf(users())).toBe(200);
    });
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
    expect(await statusOf(admin('DELETE', `/admin/users/${owner.id}`))).toBe(409);
    await admin('DELETE', `/admin/clients/${partner.client.id}`);
    expect(await statusOf(admin('DELETE', `/admin/users/${owner.id}`))).toBe(204);
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
