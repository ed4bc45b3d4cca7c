import { BAD, NOT_PUBLIC, UNKNOWN, URL_OK } from '../support/bad-endpoints.js';
import { type Answer, membersIn } from '../support/http.js';
import { madeForEach, madeOnce, TYPE, useSharedService, WEBHOOK_ENV } from '../support/spec.js';
import { rowCounts, unexpectedErrors } from '../support/refusals.js';

const UNKNOWN_CLIENT = 'clnt01HN2NJ9NMRZBXT1H6FT9N7735';

interface EndpointView {
  id: string;
  url: string;
  secret?: string;
  [member: string]: unknown;
}

describe('The admin API for webhook endpoints', () => {
  const service = useSharedService({ env: WEBHOOK_ENV });
  let bearer: string;

  const strict = useSharedService();
  const operator = madeOnce(() => service.make.operatorClient());
  beforeAll(async () => (bearer = await service.make.clientToken(operator)));
  const client = madeForEach(() => service.make.client());
  afterEach(() => expect(unexpectedErrors(service)).toEqual([]));

  const send = (method: string, path: string, json?: unknown) =>
    service.http.send(path, { method, bearer, json });
  const listPath = (of = client.id) => `/admin/clients/${of}/webhook_endpoints`;
  const post = (fields: Record<string, unknown> = {}, of = client.id) =>
    send('POST', listPath(of), { url: URL_OK, event_types: [TYPE], ...fields });
  const create = async (fields: Record<string, unknown> = {}): Promise<EndpointView> => {
    const answer = await post(fields);
    expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
    return answer.json as EndpointView;
  };
  const path = (id: string) => `/admin/webhook_endpoints/${id}`;
  const expectStatus = (answer: Answer, status: number) => {
    expect([answer.status, answer.json?.status]).toEqual([status, status]);
    expect(answer.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
  };
  const audits = (id: string) =>
    service.database.query<{ action: string; actor_id: string; before: unknown; after: unknown }>(
      'SELECT action, actor_id, before, after FROM audit_events WHERE subject_id = $1 ORDER BY id',
      [id],
    );

  describe('refuses', () => {
    it('every invalid member of a new endpoint, and stores nothing', async () => {
      const before = await rowCounts(service);
      for (const [member, values] of BAD) {
        for (const value of values) {
          const answer = await post({ [member]: value });
          const named = membersIn(answer);
          expect([member, value, answer.status, named]).toEqual([member, value, 400, [member]]);
        }
      }
      const both = await post({ url: 'x', event_types: ['x'] });
      expect(membersIn(both).sort()).toEqual(['event_types', 'url']);
      expect(await rowCounts(service)).toEqual(before);
    });

    it('every invalid member of a change, and changes nothing', async () => {
      const { id } = await create();
      const before = (await send('GET', path(id))).json as EndpointView;
      for (const [member, values] of [
        ...BAD,
        ['client_id', [UNKNOWN_CLIENT, null]] as (typeof BAD)[number],
      ]) {
        for (const value of values.filter((each) => each !== undefined)) {
          const answer = await send('PATCH', path(id), { description: 'new', [member]: value });
          const named = membersIn(answer);
          expect([member, value, answer.status, named]).toEqual([member, value, 400, [member]]);
        }
      }
      expect((await send('GET', path(id))).json).toEqual(before);
      expect(await audits(id)).toHaveLength(1);
    });

    it('URLs that are not public, unless the settings allow them', async () => {
      const { id } = await strict.make.client();
      const token = await strict.make.adminToken();
      const before = await rowCounts(strict);
      for (const url of NOT_PUBLIC) {
        const json = { url, event_types: [TYPE] };
        const answer = await strict.http.send(listPath(id), { bearer: token, json });
        expect([url, answer.status, answer.json.field_errors]).toEqual([
          url,
          400,
          { url: [expect.stringMatching(/^must (not point to|start with https)/)] },
        ]);
      }
      expect(await rowCounts(strict)).toEqual(before);
    });

    it('event types that the client’s scopes do not allow, naming each', async () => {
      const vehicles = await service.make.client({ scopes: ['vehicle:read'] });
      const answer = await post(
        { event_types: ['vehicle.updated', TYPE, 'user.consent_granted'] },
        vehicles.id,
      );
      expect([answer.status, answer.json.field_errors]).toEqual([
        400,
        { event_types: [expect.stringContaining(`${TYPE} requires the scope charging_session:read`)] },
      ]);
      const made = await post({ event_types: ['vehicle.updated', 'user.consent_granted'] }, vehicles.id);
      expect(made.status).toBe(201);
      expect((await send('PATCH', path(made.json.id as string), { event_types: [TYPE] })).status).toBe(400);
    });

    it('an unknown client or endpoint with a 404', async () => {
      for (const id of [UNKNOWN_CLIENT, 'clnt1', UNKNOWN]) {
        expectStatus(await post({}, id), 404);
        expectStatus(await send('GET', listPath(id)), 404);
      }
      for (const id of [UNKNOWN, 'endp1', UNKNOWN_CLIENT, UNKNOWN.toLowerCase()]) {
        expectStatus(await send('GET', path(id)), 404);
        expectStatus(await send('PATCH', path(id), { enabled: false }), 404);
        expectStatus(await send('DELETE', path(id)), 404);
      }
    });

    const seed = (number: number) =>
      service.database.query(
        `INSERT INTO webhook_endpoints (id, client_id, url, event_types, sealed_secret)
         SELECT 'endp' || lpad(n::text, 18, '0') || right($1, 8), $1, $2, $3, '' FROM generate_series(1, $4) n`,
        [client.id, URL_OK, [TYPE], number],
      );

    it('a fifty-first endpoint with a 409, until one is deleted', async () => {
      await seed(48);
      const { id } = await create();
      await create();
      expectStatus(await post(), 409);
      expectStatus(await post({ enabled: false }), 409);
      expect((await send('DELETE', path(id))).status).toBe(204);
      await create();
      expectStatus(await post(), 409);
      expect((await send('GET', `${listPath()}?page_size=100`)).json).toHaveLength(50);
    });

    it('five of ten endpoints that are created concurrently when there are 45', async () => {
      await seed(45);
      const answers = await Promise.all(Array.from({ length: 10 }, () => post()));
      const statuses = answers.map(({ status }) => status).sort();
      expect(statuses).toEqual([...Array<number>(5).fill(201), ...Array<number>(5).fill(409)]);
      expect((await send('GET', `${listPath()}?page_size=100`)).json).toHaveLength(50);
    });
  });

  it('creates an endpoint and answers 201, with a secret of 32 bytes that is never shown again', async () => {
    const made = await create({ description: 'Für “alles” 🔌', event_types: ['vehicle.updated', TYPE] });
    const { secret, ...view } = made;
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(Buffer.from(secret!.slice(6), 'base64')).toHaveLength(32);
    expect(view).toEqual({
      id: expect.stringMatching(/^endp[0-9A-HJKMNP-TV-Z]{26}$/),
      client_id: client.id,
      url: URL_OK,
      description: 'Für “alles” 🔌',
      event_types: ['vehicle.updated', TYPE],
      enabled: true,
      filters: [],
      max_per_minute: null,
      ordered: false,
      batch: null,
      signature_versions: ['v1'],
      headers: [],
      authentication: null,
      disabled_reason: null,
      disabled_at: null,
      last_attempt_at: null,
      failing_since: null,
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
    });
    const shown = [await send('GET', path(view.id)), await send('GET', listPath())];
    expect(shown.map(({ json }) => json as unknown)).toEqual([view, [view]]);
    expect(shown.map(({ text }) => text).join()).not.toContain('whsec_');
    const disabled = await create({ enabled: false, description: '' });
    expect(disabled).toMatchObject({ enabled: false, disabled_reason: null, description: '' });
    expect(disabled.secret).not.toBe(secret);
  });

  it('lists only the client’s own endpoints, ordered by id and in pages', async () => {
    const made: string[] = [];
    for (let n = 0; n < 5; n++) made.push((await create()).id);
    await post({}, (await service.make.client()).id);
    const seen: string[] = [];
    let next: string | undefined = `${listPath()}?page_size=2`;
    while (next) {
      const page: Answer = await send('GET', next);
      seen.push(...(page.json as EndpointView[]).map(({ id }) => id));
      next = /<([^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1];
    }
    expect(seen).toEqual([...made].sort());
    for (const query of [
      'page_size=0',
      'page_size=101',
      'page_after=x',
      'q=x',
      `page_after=${UNKNOWN}&page_before=${UNKNOWN}`,
    ]) {
      expectStatus(await send('GET', `${listPath()}?${query}`), 400);
    }
  });

  it('changes only the members that are given', async () => {
    const { secret, ...made } = await create();
    const changes = [
      { url: 'http://127.0.0.1:10/other?a=b' },
      { description: 'new' },
      { event_types: ['vehicle.deleted'] },
      { enabled: false },
      { enabled: true },
      {},
    ];
    let expected: Record<string, unknown> = made;
    for (const change of changes) {
      const answer = await send('PATCH', path(made.id), change);
      expected = { ...expected, ...change };
      expect([answer.status, answer.json]).toEqual([
        200,
        {
          ...expected,
          updated_at: expect.any(String),
          disabled_at: expected.enabled ? null : expect.stringMatching(/Z$/),
        },
      ]);
      expect(answer.text).not.toContain(secret);
    }
  });

  it('deletes an endpoint with a 204, after which every request for it is a 404', async () => {
    const { id } = await create();
    expect((await send('DELETE', path(id))).status).toBe(204);
    expectStatus(await send('DELETE', path(id)), 404);
    expectStatus(await send('GET', path(id)), 404);
    expectStatus(await send('PATCH', path(id), { enabled: true }), 404);
    expect((await send('GET', listPath())).json).toEqual([]);
  });

  it('records each change in the audit log with actor, before and after, but without the secret', async () => {
    const { id, secret } = await create();
    await send('PATCH', path(id), { enabled: false, description: 'new' });
    await send('PATCH', path(id), { description: 'new' });
    await send('DELETE', path(id));
    const rows = await audits(id);
    const options = {
      filters: [],
      max_per_minute: null,
      ordered: false,
      batch: null,
      signature_versions: ['v1'],
      headers: [],
      authentication: null,
    };
    const view = {
      client_id: client.id,
      url: URL_OK,
      event_types: [TYPE],
      disabled_reason: null,
      ...options,
    };
    expect(rows).toEqual([
      {
        action: 'webhook_endpoint.created',
        actor_id: operator.id,
        before: null,
        after: { ...view, description: '', enabled: true },
      },
      {
        action: 'webhook_endpoint.updated',
        actor_id: operator.id,
        before: { description: '', enabled: true },
        after: { description: 'new', enabled: false },
      },
      {
        action: 'webhook_endpoint.deleted',
        actor_id: operator.id,
        before: { ...view, description: 'new', enabled: false },
        after: null,
      },
    ]);
    expect(JSON.stringify(rows)).not.toContain(secret!.slice(6, 20));
  });
});
