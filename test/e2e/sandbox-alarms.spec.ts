import { ActivityService } from '#records/activity/activity.service.js';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { ClientsService } from '#access/clients/clients.service.js';
import { enterPortal, refresh, revoke, type TestClient, until, useService } from '../support/spec.js';
import { SandboxProgram } from '../support/sandbox.js';
import { madeForEach, madeOnce } from '../support/made.js';
import { WEBHOOK_ENV, Webhooks } from '../support/webhooks.js';

describe('What operators watch', () => {
  const service = useService({ env: WEBHOOK_ENV });
  const webhooks = Webhooks.setUp(service);
  const operator = madeOnce(async () => service.make.signedIn(await service.make.user({ role: 'operator' })));
  const owner = madeForEach(() => service.make.user({ kind: 'organisation' }));
  const partner = madeForEach(() =>
    SandboxProgram.start(service, { ownerId: owner.id, name: `Rehearsal ${++counter}` }),
  );
  let counter = 0;

  const activity = (): ActivityService => service.app.get(ActivityService);
  const users = (bearer = partner.bearer) => service.http.get('/v2/users', { bearer });
  const fail = (kind: string, count = 1) => partner.call('POST', 'faults', { kind, count });
  const overview = async (): Promise<string> => (await operator.open('/admin/console')).html.text;
  const refusalsOf = async ({ id }: TestClient): Promise<string> =>
    (await operator.open(`/admin/console/clients/${id}/refusals`)).html.querySelector('main')!.text;
  const limit = ({ id }: TestClient, rateLimit: number) =>
    service.app.get(ClientsService).update(id, { rateLimit }, SERVICE_ACTOR);
  const notificationsOf = (userId: string) =>
    service.database.query<{ title: string; body: string }>(
      "SELECT short_text_title AS title, short_text_body AS body FROM notifications WHERE user_id = $1 AND message_id = 'ERR1001'",
      [userId],
    );
  const metric = async (start: string): Promise<number> => {
    const { text } = await service.http.get('/metrics');
    const line = text.split('\n').find((each) => each.startsWith(start));
    return line ? Number(line.split(' ').at(-1)) : 0;
  };

  it('is not alarmed by requests that fail in the sandbox on request', async () => {
    const failures = 'http_request_duration_seconds_count{method="GET",route="/v2/users",status="503"}';
    const [before, faults] = [await metric(failures), await metric('sandbox_faults_total{kind="503"}')];
    await fail('503', 3);
    for (let n = 0; n < 3; n++) expect((await users()).status).toBe(503);
    expect(await metric(failures)).toBe(before);
    expect(await metric('sandbox_faults_total{kind="503"}')).toBe(faults + 3);
    for (const kind of ['429', '401']) {
      await fail(kind);
      expect((await users()).status).toBe(Number(kind));
    }
    expect(await overview()).not.toContain(partner.client.name);
    const refusals = await refusalsOf(partner.client);
    expect(refusals.match(/Fault in the sandbox/g)).toHaveLength(2);
    expect(refusals).not.toContain('Its limit can be raised');
    const portal = await enterPortal(service, partner.client);
    const shown = (await portal.open('/portal/refusals')).html.text;
    expect(shown).toContain('Someone asked in the sandbox for this request to fail.');
    expect(shown).not.toContain('ask for a higher limit');
  });

  it('is told by the portal that a 401 was asked for', async () => {
    await fail('401');
    const refused = await users();
    expect(refused.status).toBe(401);
    const portal = await enterPortal(service, partner.client);
    const page = `/portal/requests/${refused.headers.get('x-request-id')}`;
    await until('the request is recorded', async () => (await portal.open(page)).status === 200);
    expect((await portal.open(page)).html.text).toContain(
      'Someone asked in the sandbox for this request to fail.',
    );
  });

  it('counts refused tokens and secrets of live clients in its metrics, and none of a sandbox', async () => {
    const counted = async (client: TestClient): Promise<number[]> => {
      const counters = [
        'bearer_refusals_total{reason="token_revoked"}',
        'bearer_refusals_total{reason="scope_missing"}',
        'oauth_client_authentication_failures_total{reason="wrong_secret"}',
        'oauth_refusals_total{endpoint="/o/revoke_token",error="invalid_client"}',
      ];
      const before = await Promise.all(counters.map(metric));
      const bearer = await service.make.clientToken(client);
      expect((await service.http.get('/admin/clients', { bearer })).status).toBe(403);
      expect((await revoke(service.http, client, bearer)).status).toBe(200);
      expect((await users(bearer)).status).toBe(401);
      const wrong = { ...client, secret: 'a wrong one' };
      expect((await revoke(service.http, wrong, bearer)).status).toBe(401);
      return (await Promise.all(counters.map(metric))).map((count, n) => count - before[n]!);
    };
    expect(await counted(partner.client)).toEqual([0, 0, 0, 0]);
    expect(await counted(await service.make.client())).toEqual([1, 1, 1, 1]);
  });

  it('is not alarmed by a refresh that fails in the sandbox on request', async () => {
    const refused = 'oauth_refusals_total{endpoint="/o/token",error="invalid_grant"}';
    const { id } = await partner.driver();
    const { refresh_token: token } = await partner.tokens(id);
    const before = await metric(refused);
    await fail('refresh');
    expect((await refresh(service.http, partner.client, token)).status).toBe(400);
    expect(await metric(refused)).toBe(before);
  });

  it('is not alarmed by a client of a sandbox over its limit, which its page and its notification mark', async () => {
    await limit(partner.client, 2);
    const answers = [await users(), await users(), await users()];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(answers[2]!.json).toMatchObject({ notification: { category: 'RETRY', message_id: 'ERR1001' } });
    expect(await overview()).not.toContain(partner.client.name);
    const refusals = await refusalsOf(partner.client);
    expect(refusals).toContain('Over the hourly request limit');
    expect(refusals).toContain('This client is in a sandbox');
    const [notification] = await notificationsOf(owner.id);
    expect(notification!.title).toBe('Too many requests in the sandbox');
    expect(notification!.body).not.toContain('asked for your data');
  });

  it('is alarmed by a live client over its limit', async () => {
    const client = await service.make.client({ name: `Real ${counter}` });
    await limit(client, 1);
    const bearer = await service.make.clientToken(client);
    for (const status of [200, 429]) expect((await users(bearer)).status).toBe(status);
    expect(await overview()).toContain(client.name);
    expect(await refusalsOf(client)).not.toContain('This client is in a sandbox');
    const [notification] = await notificationsOf(client.ownerId);
    expect(notification!.title).toBe('Too many requests');
  });

  it('counts live clients and strangers, but no client of a sandbox', async () => {
    const live = await service.make.client();
    const detail = `only here ${counter}`;
    const ofSandbox = { id: partner.client.id, environment: 'sandbox' } as const;
    const ofLive = { id: live.id, environment: 'live' } as const;
    for (const client of [ofLive, ofSandbox, ofSandbox, undefined]) {
      activity().count({ kind: 'bearer_refused', detail, client });
      activity().countMany({ kind: 'request', detail, clientId: client?.id ?? '' }, 10);
    }
    await activity().flush();
    const rows = await service.database.query<{ client_id: string; kind: string; count: string }>(
      'SELECT client_id, kind, count FROM activity_hours WHERE detail = $1 ORDER BY client_id, kind',
      [detail],
    );
    const counts = rows.map(({ client_id, kind, count }) => [client_id, kind, Number(count)]);
    const expected = [
      ['', 1],
      ['all', 2],
      [live.id, 1],
      [partner.client.id, 2],
    ] as const;
    expect(counts).toHaveLength(8);
    for (const [id, n] of expected) {
      expect(counts).toContainEqual([id, 'bearer_refused', n]);
      expect(counts).toContainEqual([id, 'request', n * 10]);
    }
  });

  it('leaves out the endpoints of a sandbox, disabled or failing', async () => {
    const attempts = async (): Promise<string> => {
      const { html } = await operator.open('/admin/console');
      return html.querySelector('section[aria-label="Failed delivery attempts"] .figures')!.text;
    };
    const before = await attempts();
    const types = ['charging_session.created', 'charging_session.updated', 'vehicle.updated'];
    const endpoint = await webhooks.endpoint(partner.client, { types, reply: 410 });
    const { id } = await partner.driver();
    await partner.call('POST', `drivers/${id}/events`, { count: 20 });
    await until('the endpoint is disabled', async () => {
      const [row] = await service.database.query<{ enabled: boolean }>(
        'SELECT enabled FROM webhook_endpoints WHERE id = $1',
        [endpoint.id],
      );
      return row?.enabled === false;
    });
    const page = await overview();
    expect(page).not.toContain(endpoint.url);
    expect(page).not.toContain('The service disabled');
    expect(await attempts()).toBe(before);
  });
});
