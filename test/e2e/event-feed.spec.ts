import { setTimeout as pause } from 'node:timers/promises';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { DAY_MS } from '#platform/config/durations.js';
import { Settings } from '#platform/config/settings.js';
import { ConsentsService } from '#access/consents/consents.service.js';
import { ConsentApprovals } from '#access/consents/consent-approvals.service.js';
import { AccessChanges } from '#platform/database/changes/access-changes.service.js';
import { newId } from '#platform/secrets/ids.js';
import { FeedPositions } from '#events/webhooks/feed/feed-position.js';
import { idsOf, nextOf, session, setUpEventFeed, type FeedEvent } from '../support/event-feed.js';
import { madeForEach, membersIn, TYPE, until } from '../support/spec.js';
import { connectionTo } from '../support/test-database.js';

const SESSION_SCOPE = 'charging_session:read';
const UNKNOWN_EVENT = 'evnt01HN2NJ9NMRZBXT1H6FT9N7735';

describe('GET /v2/events', () => {
  const { service, webhooks, client, user, own, get, publish, readAll, untilShown } = setUpEventFeed();

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
        expect([after, answer.status, membersIn(answer)]).toEqual([after, 400, ['after']]);
      }
    });

    it('a link from a time that a restore has undone, and says so', async () => {
      const positions = service.app.get(FeedPositions);
      const [{ xid }] = (await service.database.query('SELECT pg_current_xact_id()::text AS xid')) as [
        { xid: string },
      ];
      const ahead = String(BigInt(xid) + 1_000_000n);
      const after = positions.seal(client.id, { xid: ahead, eventId: UNKNOWN_EVENT });
      const answer = await get(`?${new URLSearchParams({ after }).toString()}`);
      expect([answer.status, answer.json.field_errors]).toEqual([
        400,
        { after: ['is ahead of the feed, which was restored to an earlier time: begin without it'] },
      ]);
    });

    it('a link that is older than what is kept, by the clock of the database', async () => {
      const [{ retentionDays }, changes] = [service.app.get(Settings), service.app.get(AccessChanges)];
      const clock = jest.spyOn(changes, 'databaseNow', 'get');
      clock.mockReturnValue(Date.now() - (retentionDays + 1) * DAY_MS);
      const answer = await get(nextOf(await get().finally(() => clock.mockRestore())));
      expect([answer.status, membersIn(answer)]).toEqual([400, ['after']]);
      expect((await get(nextOf(await get()))).status).toBe(200);
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
        expect([query, answer.status, membersIn(answer)]).toEqual([query, 400, [member]]);
      }
      const version = await service.http.get('/v2/events', {
        bearer: own.bearer,
        headers: { 'service-version': '3' },
      });
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
    expect((answer.json as FeedEvent[]).map(({ sequence }) => sequence)).toEqual([undefined, 1, 1, 2]);
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
    const shown = async () => (await readAll('?page_size=100')).map(({ id }) => id);

    it('whose scope the token has', async () => {
      const [first, second] = [
        await publish(session('s')),
        await publish({ type: 'vehicle.updated', data: { id: 'v' } }),
      ];
      await untilShown(first, second);
      const ids = idsOf(await get('', service, await service.make.clientToken(client, 'vehicle:read')));
      expect([ids.includes(first), ids.includes(second)]).toEqual([false, true]);
    });

    it('of users who share that scope now, and did when the event was accepted', async () => {
      const given = service.app.get(ConsentApprovals);
      const record = (scopes: string[]) => given.record(client.id, user.id, scopes, null, SERVICE_ACTOR);
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
      await service.app.get(ConsentsService).revoke(client.id, user.id, SERVICE_ACTOR);
      const ids = await shown();
      for (const id of [before, vehicle, after]) expect(ids).not.toContain(id);
      await record([SESSION_SCOPE, 'vehicle:read']);
      await untilShown(await publish(session('again')));
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
      await service.database.query('DELETE FROM events WHERE user_id = $1', [stranger.id]);
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
      await untilShown(await publish(session('disabled')));
      await service.make.updateClient(client, { enabled: false });
      expect((await get()).status).toBe(401);
    });
  });

  describe('is in the order of the commits', () => {
    const holding = madeForEach(() => connectionTo(service));
    afterEach(() => holding.end());

    /** An event in a transaction that stays open. */
    const hold = async () => {
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
      const follow = async (reader: number) => {
        for (let at = '?page_size=7'; followed[reader]!.length < 41 || !isDone;) {
          const answer = await get(at, service.instances[reader]);
          const ids = idsOf(answer);
          followed[reader]!.push(...ids);
          at = nextOf(answer);
          if (ids.length === 0) await pause(20);
        }
      };
      const reading = [follow(0), follow(1)];
      const published = await Promise.all(
        Array.from({ length: 40 }, async (_, n) => {
          const answer = await service.instances[n % 2]!.http.send('/v2/events', {
            bearer: webhooks.bearer,
            json: { user_id: user.id, timestamp: '2026-01-01T00:00:00Z', ...session(`s${n % 4}`) },
          });
          return answer.json.id as string;
        }),
      ).finally(() => (isDone = true));
      await Promise.all(reading);
      expect(followed[0]).toEqual(followed[1]);
      expect([...followed[0]!].slice(1).sort()).toEqual([...published].sort());
      for (const number of [0, 1, 2, 3]) {
        const events = (await readAll()).filter(({ data }) => data.id === `s${number}`);
        expect(events.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 10 }, (_, n) => n + 1));
      }
    });

    it('also after a restore into a database that has counted less', async () => {
      const [first, second] = [await publish(session('r')), await publish(session('r'))];
      await untilShown(first, second);
      await service.database.query("UPDATE events SET xid = '9000000000000' WHERE id = ANY ($1)", [
        [first, second],
      ]);
      expect((await readAll()).map(({ id }) => id).slice(1)).toEqual([]);
      // A restore ends every connection.
      await service.database.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE application_name = 'charging-data-service listener' AND datname = current_database()`,
      );
      await untilShown(first, second);
      expect((await readAll()).map(({ id }) => id).slice(1)).toEqual([first, second]);
    });
  });
});
