import { PurgeService } from '#platform/database/purge/purge.service.js';
import { NEW_TYPE, SCHEMA, SESSION, setUpEventTypes } from '../support/event-types.js';
import { membersIn, rowCounts, type TestEndpoint, until, WEBHOOK_ENV } from '../support/spec.js';
import { startInstance, type TestInstance } from '../support/test-service.js';
import { leaveOutScheduledPurges } from '../support/scheduled-work.js';
import { listOf } from '../support/list-of.js';

interface Body {
  id: string;
  sequence?: number;
  data: { id?: string };
}

describe('Events as a contract', () => {
  /** Refuses events that break their schema. */
  let strict: TestInstance;
  // Before the database is dropped.
  afterAll(() => strict.app.close());
  const { service, webhooks, client, user, admin, newName, newType, publishAt } = setUpEventTypes();
  let endpoint: TestEndpoint;

  beforeAll(async () => {
    await leaveOutScheduledPurges(service);
    strict = await startInstance(service.database, {
      ...WEBHOOK_ENV,
      BASE_URL: service.url,
      EVENT_SCHEMA_CHECK: 'refuse',
    });
    await leaveOutScheduledPurges({ instances: [strict] });
    endpoint = await webhooks.endpoint(client, { types: [SESSION, 'vehicle.updated'] });
  });

  const publish = (fields: Record<string, unknown>) => webhooks.publish(user.id, fields);
  const bodyOf = async (id: string): Promise<Body> => {
    const payload = await service.database.value<string>('SELECT payload FROM events WHERE id = $1', [id]);
    return JSON.parse(payload) as Body;
  };

  /** How often the data of a type broke its schema: in this process, in which no other file has a type of this name. */
  const breaksOf = async (type: string): Promise<number> => {
    const { text } = await service.http.get('/metrics');
    return Number(text.split(`event_schema_breaks_total{type="${type}",version="1"} `)[1]?.split('\n')[0]);
  };

  describe('Publishing', () => {
    it('means the newest version that is not a draft, at once on every instance', async () => {
      const name = await newType();
      const versionOf = async (json: object): Promise<number | undefined> => {
        const answer = await publishAt(service.instances[1]!, { type: name, data: { id: '1' }, ...json });
        expect(answer.status).toBe(202);
        const [row] = await service.database.query<{ version: number }>(
          'SELECT version FROM events WHERE id = $1',
          [answer.json.id as string],
        );
        return row?.version;
      };
      expect(await versionOf({})).toBe(1);
      await admin('PUT', `/${name}/versions/2`, { schema: SCHEMA, draft: true });
      expect(await versionOf({})).toBe(1);
      await admin('PUT', `/${name}/versions/2`, { schema: SCHEMA });
      expect(await versionOf({})).toBe(2);
      expect(await versionOf({ version: 1 })).toBe(1);
    });

    it('refuses a version that is not there or a draft, and a type without one', async () => {
      const name = await newType();
      await admin('PUT', `/${name}/versions/2`, { schema: SCHEMA, draft: true });
      for (const version of [0, -1, 2, 3, 1.5, '1', null]) {
        const answer = await publish({ type: name, version, data: { id: '1' } });
        expect([version, answer.status, membersIn(answer)]).toEqual([version, 400, ['version']]);
      }
      const empty = newName();
      await admin('PUT', `/${empty}`, NEW_TYPE);
      const answer = await publish({ type: empty, data: { id: '1' } });
      expect([answer.status, membersIn(answer)]).toEqual([400, ['type']]);
    });

    it('accepts data that breaks its schema, counts it and logs where, but no value', async () => {
      const type = await newType();
      const data = { id: 'the-secret-of-a-session', kwh: 'many' };
      for (let n = 0; n < 2; n++) expect((await publish({ type, data })).status).toBe(202);
      expect(await breaksOf(type)).toBe(2);
      // Nest's logger is the last instance's.
      const log = [...service.instances, strict].flatMap((instance) => instance.log);
      const lines = log.filter((line) => line.includes('breaks its schema') && line.includes(type));
      expect(lines).toHaveLength(1);
      expect(lines[0]).toContain(`${type}, version 1, at data.kwh`);
      expect(log.join('\n')).not.toContain('the-secret-of-a-session');
    });

    it('refuses it with EVENT_SCHEMA_CHECK=refuse, and stores nothing', async () => {
      // The attempts of what was published before are rows, too.
      await until('all is delivered', async () => {
        const pending = await service.database.query(
          "SELECT 1 FROM deliveries WHERE state = 'pending' AND client_id = $1",
          [client.id],
        );
        return pending.length === 0;
      });
      const before = await rowCounts(service);
      const broken: [data: object, path: string][] = [
        [{}, 'data.id'],
        [{ id: '', state: 'charging' }, 'data.id'],
        [{ id: '1', state: 'charging', energy_kwh: -1 }, 'data.energy_kwh'],
        [{ id: '1', state: 'charging', plugged_in_at: 'yesterday' }, 'data.plugged_in_at'],
      ];
      for (const [data, path] of broken) {
        const answer = await publishAt(strict, { type: SESSION, data }, { 'idempotency-key': 'broken' });
        expect([answer.status, membersIn(answer)]).toEqual([400, [path]]);
      }
      expect(await rowCounts(service)).toEqual(before);
      const added = { id: '1', state: 'charging', another: { member: [1] } };
      expect((await publishAt(strict, { type: SESSION, data: added })).status).toBe(202);
    });

    it('learns of a new schema before it refuses, and answers a repeated key as before', async () => {
      const name = await newType();
      const event = { type: name, data: { id: '1', kwh: 'many' } };
      const key = { 'idempotency-key': `repeated ${name}`.replaceAll(' ', '-') };
      expect((await publishAt(strict, event, key)).status).toBe(400);
      await admin('PUT', `/${name}/versions/2`, { schema: { type: 'object', required: ['id'] } });
      const first = await publishAt(strict, event, key);
      expect(first.status).toBe(202);
      await admin('PUT', `/${name}/versions/3`, { schema: SCHEMA });
      const again = await publishAt(strict, event, key);
      expect([again.status, again.json]).toEqual([202, first.json]);
      expect((await publishAt(strict, event)).status).toBe(400);
    });

    it('knows a version as part of the body under an Idempotency-Key', async () => {
      const event = { type: SESSION, data: { id: '1', state: 'charging' } };
      const key = { 'idempotency-key': 'with-a-version' };
      expect((await publishAt(service, { ...event, version: 1 }, key)).status).toBe(202);
      expect((await publishAt(service, { ...event, version: 1 }, key)).status).toBe(202);
      expect((await publishAt(service, event, key)).status).toBe(422);
    });
  });

  describe('A delivery', () => {
    it('names the version, and carries the number of the event as the last member, signed with the rest', async () => {
      const data = { id: 'delivered', state: 'charging' };
      await publish({ type: SESSION, data });
      await publish({ type: SESSION, data: { ...data, state: 'ended' } });
      // What other tests have published may arrive between them.
      const ours = () =>
        webhooks.received(endpoint).filter(({ body }) => (JSON.parse(body) as Body).data.id === data.id);
      await until('both have arrived', () => ours().length >= 2);
      const requests = ours();
      const bodies = requests
        .map(({ body }) => JSON.parse(body) as Body)
        .sort((a, b) => a.sequence! - b.sequence!);
      expect(bodies.map(({ sequence }) => sequence)).toEqual([1, 2]);
      for (const { headers, body } of requests) {
        expect(headers['webhook-event-version']).toBe('1');
        expect(body).toMatch(/\},"sequence":\d\}$/);
        expect(Object.keys(JSON.parse(body) as object)).toEqual(
          listOf(`
          id, type, timestamp, user_id, data, sequence
        `),
        );
      }
    });

    it('has no number where the data names nothing, or the type has no resource', async () => {
      const sequenceOf = async (fields: Record<string, unknown>) =>
        (await bodyOf((await publish(fields)).json.id as string)).sequence;
      for (const id of [undefined, null, '', {}, [], true, 1.5, 'x'.repeat(256)])
        expect(await sequenceOf({ type: SESSION, data: { id } })).toBeUndefined();
      expect(
        await sequenceOf({ type: await newType({ resource: null }), data: { id: '1' } }),
      ).toBeUndefined();
      expect(await sequenceOf({ type: SESSION, data: { id: 'x'.repeat(255) } })).toBe(1);
      expect(await sequenceOf({ type: SESSION, data: { id: 4711 } })).toBe(1);
    });
  });

  describe('The sequence', () => {
    const session = (id: string, type = SESSION) => ({ type, data: { id, state: 'charging' } });

    it('counts for each user, family and id, across types and versions', async () => {
      const other = await webhooks.consentedUser(client);
      const sequence = async (json: object, userId = user.id) =>
        (await bodyOf((await publishAt(service, { ...json, user_id: userId })).json.id as string)).sequence;
      expect(await sequence(session('one'))).toBe(1);
      expect(await sequence(session('one', 'charging_session.ended'))).toBe(2);
      expect(await sequence(session('two'))).toBe(1);
      expect(await sequence(session('one', 'vehicle.updated'))).toBe(1);
      expect(await sequence(session('one'), other.id)).toBe(1);
      expect(await sequence({ ...session('one'), version: 1 })).toBe(3);
    });

    it('has neither gaps nor repeats when two instances publish at once, in the order of the commits', async () => {
      const ids = ['a', 'b', 'c'].map((letter) => `burst-${letter}`);
      const events = Array.from({ length: 48 }, (_, index) => ids[index % 3]!);
      const answers = await Promise.all(
        events.map((id, index) => publishAt(service.instances[index % 2]!, session(id))),
      );
      expect(answers.every(({ status }) => status === 202)).toBe(true);
      const rows = await service.database.query<{ payload: string }>(
        "SELECT payload FROM events WHERE payload LIKE '%\"burst-%' ORDER BY xid, id",
      );
      const bodies = rows.map(({ payload }) => JSON.parse(payload) as Body);
      for (const id of ids) {
        const sequences = bodies.filter(({ data }) => data.id === id).map(({ sequence }) => sequence);
        expect(sequences).toEqual(Array.from({ length: 16 }, (_, index) => index + 1));
      }
    });

    it('is kept for 400 days without an event', async () => {
      const sequence = async (id: string) =>
        (await bodyOf((await publishAt(service, session(id))).json.id as string)).sequence;
      expect([await sequence('silent'), await sequence('quiet')]).toEqual([1, 1]);
      const age = (id: string, days: number) =>
        service.database.query(
          'UPDATE event_sequences SET seen_on = current_date - $2::int WHERE resource_id = $1',
          [id, days],
        );
      await age('silent', 402);
      await age('quiet', 399);
      await strict.app.get(PurgeService).purge();
      expect([await sequence('silent'), await sequence('quiet')]).toEqual([1, 2]);
    });

    it('is not used up by what is refused or repeated, and is erased with the user', async () => {
      const erased = await webhooks.consentedUser(client);
      const json = { ...session('mine'), user_id: erased.id };
      const key = { 'idempotency-key': 'sequence-once' };
      const first = await publishAt(service, json, key);
      await publishAt(service, json, key);
      await publishAt(strict, { ...json, data: { id: 'mine' } });
      const second = await publishAt(service, json);
      expect([
        (await bodyOf(first.json.id as string)).sequence,
        (await bodyOf(second.json.id as string)).sequence,
      ]).toEqual([1, 2]);
      await service.http.send(`/admin/users/${erased.id}`, { method: 'DELETE', bearer: webhooks.bearer });
      expect(
        await service.database.query('SELECT 1 FROM event_sequences WHERE user_id = $1', [erased.id]),
      ).toEqual([]);
    });
  });

  describe('A schema that could keep the service busy', () => {
    it.each([
      ['a name that objects inherit as its format', JSON.parse('{"format":"__proto__"}'), /unknown format/],
      ['another one', { format: 'valueOf' }, /unknown format/],
      ['a pattern that looks ahead', { pattern: '^(?=a)a$' }, /pattern must be a regular expression/],
      ['a pattern that multiplies', { pattern: '^(?:[a-z]{100}){100}$' }, /pattern is too large/],
    ])('is refused when it is registered with %s', async (_what, part, reason) => {
      const name = await newType();
      const schema = { type: 'object', properties: { code: part as object } };
      const answer = await admin('PUT', `/${name}/versions/2`, { schema });
      expect(answer.status).toBe(400);
      expect((answer.json.field_errors as { schema: string[] }).schema.join()).toMatch(reason);
      expect((await publishAt(service, { type: name, data: { id: '1' } })).status).toBe(202);
    });

    it('counts data that is too much to check as breaking it, and others go on', async () => {
      const name = await newType(
        {},
        {
          type: 'object',
          properties: {
            id: { type: 'string' },
            list: { items: { not: { enum: Array.from({ length: 900 }, String) } } },
          },
        },
      );
      const publish = (list: string[]) => publishAt(service, { type: name, data: { id: '1', list } });
      expect((await publish(Array(10_000).fill('x') as string[])).status).toBe(202);
      expect((await publish(['x'])).status).toBe(202);
      expect(await breaksOf(name)).toBe(1);
    });
  });
});
