import { type Answer, membersIn } from '../support/http.js';
import { madeForEach, madeOnce, seedDelivery, unexpectedErrors, useSharedService } from '../support/spec.js';
import type { EndpointEntity } from '#events/webhooks/endpoints/endpoint.entity.js';
import { TYPE, WEBHOOK_ENV, Webhooks } from '../support/webhooks.js';

const UNKNOWN = 'dlvr01HN2NJ9NMRZBXT1H6FT9N7735';

interface DeliveryView {
  id: string;
  state: string;
  endpoint_id: string;
  client_id: string;
}

describe('The admin API for deliveries', () => {
  const service = useSharedService({ env: WEBHOOK_ENV });
  let bearer: string;

  const webhooks = madeOnce(() => Webhooks.start(service));
  const operator = madeOnce(() => service.make.operatorClient());
  beforeAll(async () => (bearer = await service.make.clientToken(operator)));
  const client = madeForEach(() => service.make.client());
  const user = madeForEach(() => webhooks.consentedUser(client));
  const endpoint = madeForEach(() => webhooks.endpoint(client));
  afterEach(() => expect(unexpectedErrors(service)).toEqual([]));

  const send = (method: string, path: string, by = bearer, json?: unknown) =>
    service.http.send(path, { method, bearer: by, json });
  const list = (query: string) => send('GET', `/admin/deliveries?${query}`);
  const idsOf = (answer: Answer) => (answer.json as DeliveryView[]).map(({ id }) => id);
  const resend = (id: string, by = bearer) => send('POST', `/admin/deliveries/${id}/resend`, by);
  const ATTEMPTS = { delivered: [200], pending: [500], failed: [500, 500], cancelled: [500] };
  type State = keyof typeof ATTEMPTS;
  const STATES = Object.keys(ATTEMPTS) as State[];
  /** A delivery in this state, with as many retries as attempts. */
  const make = async (state: State, { of = endpoint, by = client, type = TYPE } = {}) => {
    const id = await seedDelivery(service, { id: of.id, clientId: by.id } as EndpointEntity, {
      state,
      type,
      userId: user.id,
      cancelReason: state === 'cancelled' ? 'endpoint_disabled' : undefined,
      attempts: ATTEMPTS[state].map((status) => ({ status })),
    });
    await service.database.query('UPDATE deliveries SET retries = attempts WHERE id = $1', [id]);
    return id;
  };

  describe('refuses', () => {
    it('an invalid or unknown filter, naming it', async () => {
      const bad: [string, string[]][] = [
        ['client_id', ['', 'clnt1', UNKNOWN, client.id.toLowerCase()]],
        ['endpoint_id', ['', 'endp1', UNKNOWN, client.id]],
        ['state', ['', 'Pending', 'succeeded', 'pending,failed', "' OR 1=1 --"]],
        ['page_size', ['0', '101', '-1', 'x']],
        ['page_after', ['x', '1']],
        ['event_type', [TYPE]],
      ];
      for (const [name, values] of bad) {
        for (const value of values) {
          const answer = await list(`${name}=${encodeURIComponent(value)}`);
          expect([name, value, answer.status, membersIn(answer)]).toEqual([name, value, 400, [name]]);
        }
      }
      expect((await list('state=failed&state=pending')).status).toBe(400);
    });

    it('an unknown id with a 404', async () => {
      for (const id of [UNKNOWN, 'dlvr1', UNKNOWN.toLowerCase(), endpoint.id, '%00', "'"]) {
        const answers = [await send('GET', `/admin/deliveries/${id}`), await resend(id)];
        for (const { status } of answers)
          expect([id, status]).toEqual([id, id === '%00' ? expect.any(Number) : 404]);
      }
    });

    it('with a 409 to resend a delivery that is being attempted or whose endpoint was deleted, and records nothing', async () => {
      const leased = await make('failed');
      await service.database.query(
        "UPDATE deliveries SET state = 'pending', next_attempt_at = now() + interval '30 s', lease_id = 'x', finished_at = NULL WHERE id = $1",
        [leased],
      );
      expect((await resend(leased)).status).toBe(409);
      await service.database.query(
        "UPDATE deliveries SET lease_id = NULL, state = 'failed', next_attempt_at = NULL WHERE id = $1",
        [leased],
      );
      await send('DELETE', `/admin/webhook_endpoints/${endpoint.id}`);
      expect((await resend(leased)).status).toBe(409);
      expect(await webhooks.delivery(leased)).toMatchObject({ state: 'failed', attempts: 2 });
      const audits = await service.database.query('SELECT 1 FROM audit_events WHERE subject_id = $1', [
        leased,
      ]);
      expect(audits).toEqual([]);
    });
  });

  it('lists the deliveries that match the filters, newest first', async () => {
    const second = await webhooks.endpoint(client, { types: ['vehicle.updated'] });
    const other = await service.make.client();
    const otherEndpoint = await webhooks.endpoint(other);
    const made: Record<string, string> = {};
    for (const state of STATES) made[state] = await make(state);
    const third = await make('delivered', { of: second, type: 'vehicle.updated' });
    const foreign = await make('failed', { of: otherEndpoint, by: other });
    const newestFirst = (...ids: string[]) => ids.sort().reverse();
    const mine = newestFirst(...Object.values(made), third);
    expect(idsOf(await list(`client_id=${client.id}`))).toEqual(mine);
    expect(idsOf(await list(`client_id=${other.id}`))).toEqual([foreign]);
    expect(idsOf(await list(`endpoint_id=${second.id}`))).toEqual([third]);
    expect(idsOf(await list(`endpoint_id=${second.id}&client_id=${other.id}`))).toEqual([]);
    for (const [state, id] of Object.entries(made)) {
      const answer = await list(`endpoint_id=${endpoint.id}&state=${state}`);
      expect([state, idsOf(answer)]).toEqual([state, [id]]);
      expect((answer.json as DeliveryView[])[0]).toMatchObject({ state, client_id: client.id });
    }
    expect(idsOf(await list('state=failed&page_size=100'))).toEqual(
      expect.arrayContaining([made.failed, foreign]),
    );
    expect(idsOf(await list('page_size=6'))).toEqual(newestFirst(...mine, foreign));
  });

  it('lists deliveries in pages, forwards and backwards', async () => {
    const ids = (await Promise.all(Array.from({ length: 5 }, () => make('delivered')))).sort().reverse();
    const filter = `client_id=${client.id}&page_size=2`;
    const pages: string[][] = [];
    let answer = await list(filter);
    const link = (rel: string) =>
      new RegExp(`<([^>]+)>; rel="${rel}"`).exec(answer.headers.get('link') ?? '')?.[1];
    pages.push(idsOf(answer));
    for (let next = link('next'); next; next = link('next')) {
      answer = await send('GET', next);
      pages.push(idsOf(answer));
    }
    expect(pages).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
    answer = await send('GET', link('previous')!);
    expect(idsOf(answer)).toEqual(ids.slice(2, 4));
  });

  it('shows a delivery with its payload and every attempt', async () => {
    webhooks.answer(endpoint.path, 500);
    const { id } = await webhooks.publishOne(user.id, { data: { state: 'failed' } });
    await webhooks.attempted(id);
    // Its schedule is used up.
    await service.database.query('UPDATE deliveries SET retries = 100 WHERE id = $1', [id]);
    await webhooks.makeDue(id);
    await webhooks.finished(id);
    const answer = await send('GET', `/admin/deliveries/${id}`);
    const attempt = (number: number) => ({
      number,
      batch: null,
      attempted_at: expect.stringMatching(/^\d{4}-.*Z$/) as string,
      duration_ms: expect.any(Number) as number,
      status: 500,
      failure: null,
      detail: null,
      response_start: '',
    });
    const row = await webhooks.delivery(id);
    expect(answer.json).toEqual({
      id,
      event_id: row.event_id,
      event_type: TYPE,
      endpoint_id: endpoint.id,
      client_id: client.id,
      state: 'failed',
      cancel_reason: null,
      attempt_count: 2,
      next_attempt_at: null,
      waits_for_earlier_event: false,
      created_at: expect.stringMatching(/Z$/) as string,
      finished_at: expect.stringMatching(/Z$/) as string,
      payload: {
        id: row.event_id,
        type: TYPE,
        timestamp: '2026-01-01T00:00:00Z',
        user_id: user.id,
        data: { state: 'failed' },
      },
      attempts: [attempt(1), attempt(2)],
    });
  });

  it('shows only the attempts that belong to the state it shows, also while one ends', async () => {
    const id = await make('failed');
    // As if the last attempt had ended after the delivery was read.
    await service.database.query('UPDATE deliveries SET attempts = attempts - 1 WHERE id = $1', [id]);
    const { json } = await send('GET', `/admin/deliveries/${id}`);
    expect(json).toMatchObject({ attempt_count: 1, attempts: [{ number: 1 }] });
    expect((json as { attempts: unknown[] }).attempts).toHaveLength(1);
  });

  it('resends a delivery in any state from the start of the retry schedule, under the same id', async () => {
    const sent = (id: string) =>
      webhooks.received(endpoint).filter(({ headers }) => headers['webhook-id'] === id).length;
    for (const state of STATES) {
      const id = await make(state);
      const before = await webhooks.delivery(id);
      const sentBefore = sent(id);
      webhooks.answer(endpoint.path, 503);
      const answer = await resend(id);
      expect([state, answer.status, answer.json.id]).toEqual([state, 202, id]);
      const row = await webhooks.attempted(id, before.attempts + 1);
      expect(row).toMatchObject({ state: 'pending', retries: 1, cancel_reason: null });
      // Those of the states before may come again meanwhile.
      expect(sent(id)).toBe(sentBefore + 1);
      const audits = await service.database.query(
        'SELECT action, actor_id, before, after FROM audit_events WHERE subject_id = $1',
        [id],
      );
      expect(audits).toEqual([
        {
          action: 'delivery.resent',
          actor_id: operator.id,
          before: { state, attempts: before.attempts },
          after: null,
        },
      ]);
    }
  });

  it('resends a delivery only once when it is requested concurrently', async () => {
    const id = await make('failed');
    const sent = webhooks.received(endpoint).length;
    let release: () => void = () => undefined;
    webhooks.answer(endpoint.path, (response) => (release = () => void response.end()));
    expect((await resend(id)).status).toBe(202);
    await webhooks.receives(endpoint, sent + 1);
    const answers = await Promise.all(Array.from({ length: 10 }, () => resend(id)));
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(409));
    release();
    expect(await webhooks.finished(id)).toMatchObject({ state: 'delivered', attempts: 3 });
    expect(webhooks.received(endpoint)).toHaveLength(sent + 1);
  });
});
