import { Client } from 'pg';
import { SERVICE_ACTOR } from '../../src/audit/audit.service.js';
import { ClientsService } from '../../src/clients/clients.service.js';
import { ConsentsService } from '../../src/consents/consents.service.js';
import { newId } from '../../src/secrets/ids.js';
import type { UserEntity } from '../../src/users/accounts/user.entity.js';
import type { TestClient } from '../support/factory.js';
import { HeldTimers } from '../support/held-timers.js';
import type { Answer } from '../support/http.js';
import { unexpectedErrors } from '../support/refusals.js';
import { startInstance, startService, type TestInstance, type TestService } from '../support/test-service.js';
import { until } from '../support/until.js';
import { TYPE, WEBHOOK_ENV, Webhooks } from '../support/webhooks.js';

const SESSION_SCOPE = 'charging_session:read';
const UNKNOWN_EVENT = 'evnt01HN2NJ9NMRZBXT1H6FT9N7735';

interface Event {
  id: string;
  type: string;
  user_id: string;
  data: Record<string, unknown>;
  sequence?: number;
}

describe('GET /v2/events', () => {
  let service: TestService;
  let webhooks: Webhooks;
  let client: TestClient;
  let user: UserEntity;
  let bearer: string;

  beforeAll(async () => {
    service = await startService({ instances: 2, env: WEBHOOK_ENV });
    webhooks = await Webhooks.start(service);
  });
  beforeEach(async () => {
    client = await service.make.client();
    user = await webhooks.consentedUser(client);
    bearer = await service.make.clientToken(client);
  });
  afterEach(() => expect(unexpectedErrors(service)).toEqual([]));
  afterAll(async () => {
    await webhooks.stop();
    await service.stop();
  });

  const get = (query = '', instance: TestInstance = service, token = bearer): Promise<Answer> =>
    instance.http.get(`/v2/events${query}`, { bearer: token });
  const idsOf = ({ json }: Answer) => (json as Event[]).map(({ id }) => id);
  const nextOf = ({ headers }: Answer): string => {
    const url = new URL(/^<([^>]+)>; rel="next"$/.exec(headers.get('link') ?? '')![1]!);
    return url.search;
  };
  const publish = async (fields: Record<string, unknown> = {}, of: UserEntity = user): Promise<string> => {
    const answer = await webhooks.publish(of.id, fields);
    expect(answer.status).toBe(202);
    return answer.json.id as string;
  };
  const session = (id: string, type = TYPE) => ({
    type,
    data: { id, plugged_in_at: '2026-01-01T00:00:00Z', state: 'x' },
  });
  /** The whole feed, page by page. */
  const readAll = async (query = '', instance: TestInstance = service): Promise<Event[]> => {
    const events: Event[] = [];
    for (let at = query; ;) {
      const answer = await get(at, instance);
      expect(answer.status).toBe(200);
      if ((answer.json as Event[]).length === 0) return events;
      events.push(...(answer.json as Event[]));
      at = nextOf(answer);
    }
  };
  /** Other databases of the same server can hold events up for a moment. */
  const untilShown = (...ids: string[]): Promise<void> =>
    until('the feed shows the events', async () => {
      const shown = (await readAll('?page_size=100')).map(({ id }) => id);
      return ids.every((id) => shown.includes(id));
    });

  describe('refuses', () => {
    it('a request without a token, and the token of a user', async () => {
      expect((await service.http.get('/v2/events')).status).toBe(401);
      const { access_token: ofUser } = await service.make.tokens(client, user);
      expect((await get('', service, ofUser)).status).toBe(403);
    });

    it('what is not an event that is kept', async () => {
      const [other, test] = [await service.make.client(), newId('evnt')];
      await service.database.query(
        "INSERT INTO events (id, type, payload, deliveries, test) VALUES ($1, 'webhook.test', '{}', 0, true)",
        [test],
      );
      const ofOther = new URLSearchParams(
        nextOf(await get('', service, await service.make.clientToken(other))),
      ).get('after')!;
      for (const after of [
        UNKNOWN_EVENT,
        test,
        ofOther,
        `${ofOther.slice(0, -2)}AA`,
        'x',
        '',
        'first',
        user.id,
      ]) {
        const answer = await get(`?${new URLSearchParams({ after }).toString()}`);
        expect([after, answer.status, Object.keys((answer.json.field_errors ?? {}) as object)]).toEqual([
          after,
          400,
          ['after'],
        ]);
      }
    });

    it('other parameters, and values outside of their range', async () => {
      const bad: [query: string, member: string][] = [
        ['page_size=0', 'page_size'],
        ['page_size=101', 'page_size'],
        ['page_size=x', 'page_size'],
        ['wait=21', 'wait'],
        ['wait=-1', 'wait'],
        ['wait=1.5', 'wait'],
        ['wait=', 'wait'],
        ['after=latest&after=latest', 'after'],
        ['page_after=x', 'page_after'],
        ['user_id=x', 'user_id'],
      ];
      for (const [query, member] of bad) {
        const answer = await get(`?${query}`);
        expect([query, answer.status, Object.keys((answer.json.field_errors ?? {}) as object)]).toEqual([
          query,
          400,
          [member],
        ]);
      }
      const version = await service.http.get('/v2/events', { bearer, headers: { 'service-version': '3' } });
      expect(version.status).toBe(400);
    });
  });

  it('shows the events as they are delivered, oldest first, and counts as a request for partners', async () => {
    const endpoint = await webhooks.endpoint(client, { types: [TYPE, 'vehicle.updated'] });
    const ids = [
      await publish(session('s1')),
      await publish({ type: 'vehicle.updated', data: { id: 'v1' } }),
      await publish(session('s1')),
    ];
    await webhooks.receives(endpoint, 3);
    await untilShown(...ids);
    const answer = await get();
    // The consent of the client's user comes first.
    expect(idsOf(answer).slice(1)).toEqual(ids);
    const bodies = webhooks.received(endpoint).map(({ body }) => body);
    for (const body of bodies) expect(answer.text).toContain(body);
    expect((answer.json as Event[]).map(({ sequence }) => sequence)).toEqual([undefined, 1, 1, 2]);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(answer.headers.get('service-version')).toBe('2');
    const remaining = Number(answer.headers.get('x-ratelimit-remaining'));
    const again = await get(nextOf(answer));
    expect([again.json, Number(again.headers.get('x-ratelimit-remaining'))]).toEqual([[], remaining - 1]);
    expect(nextOf(again)).not.toBe('');
  });

  it('goes on after an event, after what a link holds, and from now on', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) ids.push(await publish(session(`page-${n}`)));
    await untilShown(...ids);
    expect((await readAll('?page_size=2')).map(({ id }) => id).slice(1)).toEqual(ids);
    expect(idsOf(await get(`?after=${ids[2]}`))).toEqual(ids.slice(3));
    expect(idsOf(await get(`?after=${ids[4]}`))).toEqual([]);
    const latest = await get('?after=latest&page_size=3');
    expect(latest.json).toEqual([]);
    expect(nextOf(latest)).toContain('page_size=3');
    const later = await publish(session('later'));
    await untilShown(later);
    expect(idsOf(await get(nextOf(latest)))).toEqual([later]);
  });

  describe('has only events', () => {
    const shown = async (): Promise<string[]> => (await readAll('?page_size=100')).map(({ id }) => id);

    it('whose scope the token has', async () => {
      const [first, second] = [
        await publish(session('s')),
        await publish({ type: 'vehicle.updated', data: { id: 'v' } }),
      ];
      await untilShown(first, second);
      const narrow = await service.make.clientToken(client, 'vehicle:read');
      const ids = idsOf(await get('', service, narrow));
      expect([ids.includes(first), ids.includes(second)]).toEqual([false, true]);
    });

    it('of users who share that scope now, and did when the event was accepted', async () => {
      const consents = service.app.get(ConsentsService);
      const record = (scopes: string[]) => consents.record(client.id, user.id, scopes, null, SERVICE_ACTOR);
      await record(['vehicle:read']);
      const before = await publish(session('before'));
      const vehicle = await publish({ type: 'vehicle.updated', data: { id: 'v' } });
      await untilShown(vehicle);
      expect(await shown()).not.toContain(before);
      await record([SESSION_SCOPE, 'vehicle:read']);
      const after = await publish(session('after'));
      await untilShown(after);
      expect(await shown()).not.toContain(before);
      expect(await shown()).toContain(vehicle);
      await consents.revoke(client.id, user.id, SERVICE_ACTOR);
      const ids = await shown();
      for (const id of [before, vehicle, after]) expect(ids).not.toContain(id);
      await record([SESSION_SCOPE, 'vehicle:read']);
      const again = await publish(session('again'));
      await untilShown(again);
      const now = await shown();
      for (const id of [before, vehicle, after]) expect(now).not.toContain(id);
    });

    it('of users who are enabled; what came while one was disabled is shown when the user is enabled again', async () => {
      const before = await publish(session('before'));
      await untilShown(before);
      await service.make.setEnabled(user, false);
      const meanwhile = await publish(session('meanwhile'));
      const other = await publish(session('other'), await webhooks.consentedUser(client));
      await untilShown(other);
      const ids = await shown();
      for (const id of [before, meanwhile]) expect(ids).not.toContain(id);
      await service.make.setEnabled(user, true);
      const again = await shown();
      for (const id of [before, meanwhile]) expect(again).toContain(id);
    });

    it('of nobody who never agreed, of no other client, and no tests', async () => {
      const [stranger, other] = [await service.make.user(), await service.make.client()];
      await service.make.consent(other, stranger);
      const hidden = await publish(session('hidden'), stranger);
      const own = await publish(session('own'));
      await service.database.query(
        "INSERT INTO events (id, type, payload, deliveries, test) VALUES ($1, 'webhook.test', '{}', 0, true)",
        [newId('evnt')],
      );
      await untilShown(own);
      const events = await readAll();
      expect(events.map(({ id }) => id)).not.toContain(hidden);
      expect(events.map(({ type }) => type)).toEqual(['user.consent_granted', TYPE]);
    });

    it('of its users, however many others there are in between', async () => {
      const [other, stranger] = [await service.make.client(), await service.make.user()];
      await service.make.consent(other, stranger);
      const before = await publish(session('before'));
      await service.database.query(
        `INSERT INTO events (id, type, user_id, payload, deliveries)
         SELECT 'evnt01HN2NJ9NMRZBXT1' || lpad(n::text, 10, '0'), $1, $2, '{}', 0 FROM generate_series(1, 2500) n`,
        [TYPE, stranger.id],
      );
      const after = await publish(session('after'));
      await untilShown(before, after);
      expect(idsOf(await get()).slice(1)).toEqual([before, after]);
      expect(idsOf(await get(nextOf(await get('?page_size=2'))))).toEqual([after]);
    });

    it('of people who are there; the end of the consent of one who was erased is still told', async () => {
      const id = await publish(session('erased'));
      await untilShown(id);
      await service.http.send(`/admin/users/${user.id}`, { method: 'DELETE', bearer: webhooks.bearer });
      await until('the end of the consent is shown', async () =>
        (await readAll()).some(({ type }) => type === 'user.consent_revoked'),
      );
      const events = await readAll();
      expect(events.map(({ type, user_id: of }) => [type, of])).toEqual([['user.consent_revoked', user.id]]);
      // The place of an event without its payload is still known.
      expect((await get(`?after=${id}`)).status).toBe(200);
    });

    it('for a client that is enabled', async () => {
      const id = await publish(session('disabled'));
      await untilShown(id);
      await service.app.get(ClientsService).update(client.id, { enabled: false }, SERVICE_ACTOR);
      expect((await get()).status).toBe(401);
    });
  });

  describe('is in the order of the commits', () => {
    let holding: Client;
    beforeEach(async () => {
      holding = new Client({ connectionString: service.database.url });
      await holding.connect();
    });
    afterEach(() => holding.end());

    /** An event in a transaction that stays open. */
    const hold = async (): Promise<string> => {
      const id = newId('evnt');
      const payload = JSON.stringify({
        id,
        type: TYPE,
        timestamp: '2026-01-01T00:00:00Z',
        user_id: user.id,
        data: {},
      });
      await holding.query('BEGIN');
      await holding.query(
        'INSERT INTO events (id, type, user_id, payload, deliveries) VALUES ($1, $2, $3, $4, 0)',
        [id, TYPE, user.id, payload],
      );
      return id;
    };

    it('and has no gap: what is committed after a transaction that is open is shown after it', async () => {
      const first = await publish(session('first'));
      await untilShown(first);
      const held = await hold();
      const later = [await publish(session('later')), await publish(session('later'))];
      const reading = await get();
      expect(idsOf(reading).slice(1)).toEqual([first]);
      // An event that the client knows by its webhook, but that is not settled: nothing before it is passed over.
      const known = nextOf(await get(`?after=${later[1]}`));
      await holding.query('COMMIT');
      await untilShown(held, ...later);
      for (const instance of service.instances) {
        expect((await readAll(nextOf(reading), instance)).map(({ id }) => id)).toEqual([held, ...later]);
        expect((await readAll(known, instance)).map(({ id }) => id)).toEqual([held, ...later]);
      }
    });

    it('and forgets a transaction that is rolled back', async () => {
      const held = await hold();
      const later = await publish(session('later'));
      await holding.query('ROLLBACK');
      await untilShown(later);
      expect((await readAll()).map(({ id }) => id).slice(1)).toEqual([later]);
      expect((await get(`?after=${held}`)).status).toBe(400);
    });

    it('for readers who follow it while two instances publish', async () => {
      const followed: string[][] = [[], []];
      let isDone = false;
      const follow = async (reader: number): Promise<void> => {
        for (let at = '?page_size=7'; followed[reader]!.length < 81 || !isDone;) {
          const answer = await get(at, service.instances[reader]);
          followed[reader]!.push(...idsOf(answer));
          at = nextOf(answer);
        }
      };
      const reading = [follow(0), follow(1)];
      const published = await Promise.all(
        Array.from({ length: 80 }, async (_, n) => {
          const answer = await service.instances[n % 2]!.http.send('/v2/events', {
            bearer: webhooks.bearer,
            json: { user_id: user.id, timestamp: '2026-01-01T00:00:00Z', ...session(`s${n % 4}`) },
          });
          return answer.json.id as string;
        }),
      );
      isDone = true;
      await Promise.all(reading);
      expect(followed[0]).toEqual(followed[1]);
      expect([...followed[0]!].slice(1).sort()).toEqual([...published].sort());
      for (const number of [0, 1, 2, 3]) {
        const events = (await readAll()).filter(({ data }) => data.id === `s${number}`);
        expect(events.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
      }
    });

    it('also after a restore into a database that has counted less', async () => {
      const [first, second] = [await publish(session('r')), await publish(session('r'))];
      await untilShown(first, second);
      await service.database.query("UPDATE events SET xid = '9000000000000' WHERE id = ANY ($1)", [
        [first, second],
      ]);
      expect((await readAll()).map(({ id }) => id).slice(1)).toEqual([]);
      const another = await startInstance(service.database, { ...WEBHOOK_ENV, BASE_URL: service.url });
      await untilShown(first, second);
      expect((await readAll()).map(({ id }) => id).slice(1)).toEqual([first, second]);
      await another.app.close();
    });
  });

  describe('with wait', () => {
    let nowhere: string;
    beforeEach(async () => {
      await until('the consent is shown', async () => (await readAll()).length === 1);
      nowhere = nextOf(await get('?after=latest'));
    });
    const waiting = (instance: TestInstance = service) => get(`${nowhere}&wait=20`, instance);

    it('answers with an event that another instance accepts meanwhile, without holding a connection', async () => {
      const clock = HeldTimers.hold(19_000, 20_000);
      const answers = Array.from({ length: 15 }, () => waiting(service.instances[1]));
      await until('all wait', () => clock.count >= 15);
      // More than there are connections: the pool has ten.
      expect((await get('', service.instances[1])).status).toBe(200);
      const id = await publish(session('awaited'));
      for (const answer of await Promise.all(answers)) expect(idsOf(answer)).toEqual([id]);
      clock.release();
    });

    it('does not wait if there is something', async () => {
      const id = await publish(session('there'));
      await untilShown(id);
      const clock = HeldTimers.hold(19_000, 20_000);
      expect(idsOf(await waiting())).toEqual([id]);
      expect(clock.count).toBe(0);
      clock.release();
    });

    it('answers with nothing when the time is over, and counts once', async () => {
      const clock = HeldTimers.hold(19_000, 20_000);
      const before = Number((await get()).headers.get('x-ratelimit-remaining'));
      const answer = waiting();
      await until('it waits', () => clock.count === 1);
      // An event of somebody else does not end it.
      const stranger = await service.make.user();
      await publish(session('foreign'), stranger);
      clock.letPass();
      const { status, json, headers } = await answer;
      expect([status, json, Number(headers.get('x-ratelimit-remaining'))]).toEqual([200, [], before - 1]);
      expect(nextOf(await answer)).toContain('wait=20');
      clock.release();
    });

    it('shows an event that an open transaction held up, when that ends', async () => {
      const holding = new Client({ connectionString: service.database.url });
      await holding.connect();
      await holding.query('BEGIN');
      await holding.query('SELECT pg_current_xact_id()');
      const clock = HeldTimers.hold(19_000, 20_000);
      const answer = waiting();
      await until('it waits', () => clock.count === 1);
      const id = await publish(session('held-up'));
      await holding.query('COMMIT');
      expect(idsOf(await answer)).toEqual([id]);
      clock.release();
      await holding.end();
    });

    it('is refused when the token ends meanwhile', async () => {
      const clock = HeldTimers.hold(19_000, 20_000);
      const answer = waiting();
      await until('it waits', () => clock.count === 1);
      await service.app.get(ClientsService).update(client.id, { enabled: false }, SERVICE_ACTOR);
      let status: number | undefined;
      void answer.then((refused) => (status = refused.status));
      // What woke it meanwhile lets it wait again.
      await until('it is answered', () => {
        clock.letPass();
        return status !== undefined;
      });
      expect(status).toBe(401);
      clock.release();
    });

    it('ends when the client goes away', async () => {
      const clock = HeldTimers.hold(19_000, 20_000);
      const leaving = new AbortController();
      const left = fetch(`${service.url}/v2/events${nowhere}&wait=20`, {
        headers: { authorization: `Bearer ${bearer}` },
        signal: leaving.signal,
      }).catch(() => undefined);
      await until('it waits', () => clock.count === 1);
      leaving.abort();
      await left;
      await until('nothing waits', () => clock.count === 0);
      clock.release();
    });

    it('ends at once when the instance stops', async () => {
      const instance = await startInstance(service.database, { ...WEBHOOK_ENV, BASE_URL: service.url });
      const clock = HeldTimers.hold(19_000, 20_000);
      const answer = waiting(instance);
      await until('it waits', () => clock.count === 1);
      await instance.app.close();
      const { status, json } = await answer;
      expect([status, json]).toEqual([200, []]);
      expect(nextOf(await answer)).not.toBe('');
      clock.release();
    });
  });
});
