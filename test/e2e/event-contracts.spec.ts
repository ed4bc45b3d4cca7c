import { EVENT_TYPES } from '../../migrations/event-types.js';
import type { UserEntity } from '../../src/users/accounts/user.entity.js';
import type { TestClient } from '../support/factory.js';
import type { Answer, HttpOptions } from '../support/http.js';
import { rowCounts, unexpectedErrors } from '../support/refusals.js';
import { startInstance, startService, type TestInstance, type TestService } from '../support/test-service.js';
import { WEBHOOK_ENV, Webhooks, type TestEndpoint } from '../support/webhooks.js';

const SESSION = 'charging_session.updated';
const SCHEMA = {
  type: 'object',
  properties: { id: { type: 'string' }, kwh: { type: 'number' } },
  required: ['id'],
};
const TYPE = {
  description: 'Something happened.',
  scope: 'vehicle:read',
  sample: { id: '1' },
  resource: '/id',
};

interface Body {
  id: string;
  sequence?: number;
  data: { id?: string };
}

describe('Events as a contract', () => {
  let service: TestService;
  /** Refuses events that break their schema. */
  let strict: TestInstance;
  let webhooks: Webhooks;
  let client: TestClient;
  let user: UserEntity;
  let endpoint: TestEndpoint;
  let n = 0;

  beforeAll(async () => {
    service = await startService({ instances: 2, env: WEBHOOK_ENV });
    strict = await startInstance(service.database, {
      ...WEBHOOK_ENV,
      BASE_URL: service.url,
      EVENT_SCHEMA_CHECK: 'refuse',
    });
    webhooks = await Webhooks.start(service);
    client = await service.make.client();
    user = await webhooks.consentedUser(client);
    endpoint = await webhooks.endpoint(client, { types: [SESSION, 'vehicle.updated'] });
  });
  afterEach(() => expect(unexpectedErrors(service)).toEqual([]));
  afterAll(async () => {
    await webhooks.stop();
    await strict.app.close();
    await service.stop();
  });

  const admin = (method: string, path: string, json?: unknown, options: HttpOptions = {}): Promise<Answer> =>
    service.http.send(`/admin/event_types${path}`, { method, bearer: webhooks.bearer, json, ...options });
  const newName = () => `test${++n}.happened`;
  /** A type with its first version. */
  const newType = async (changes: object = {}, schema: object = SCHEMA): Promise<string> => {
    const name = newName();
    expect((await admin('PUT', `/${name}`, { ...TYPE, ...changes })).status).toBe(201);
    expect((await admin('PUT', `/${name}/versions/1`, { schema })).status).toBe(201);
    return name;
  };
  const publish = (fields: Record<string, unknown>, options: HttpOptions & { key?: string } = {}) =>
    webhooks.publish(user.id, fields, options);
  const publishAt = (
    instance: TestInstance,
    json: object,
    headers: Record<string, string> = {},
  ): Promise<Answer> =>
    instance.http.send('/v2/events', {
      bearer: webhooks.bearer,
      headers,
      json: { user_id: user.id, timestamp: '2026-01-01T00:00:00Z', ...json },
    });
  const bodyOf = async (id: string): Promise<Body> => {
    const [row] = await service.database.query<{ payload: string }>(
      'SELECT payload FROM events WHERE id = $1',
      [id],
    );
    return JSON.parse(row!.payload) as Body;
  };

  describe('The public catalogue', () => {
    it('shows every type with its version, and the schema of each, without a token', async () => {
      const answer = await service.http.get('/v2/event_types');
      expect(answer.status).toBe(200);
      const types = answer.json as { name: string; version: number; schema_url: string; sample: object }[];
      expect(types.map(({ name }) => name)).toEqual(
        expect.arrayContaining(EVENT_TYPES.map(([name]) => name)),
      );
      const { schema_url: url, ...type } = types.find(({ name }) => name === SESSION)!;
      expect(type).toMatchObject({
        scope: 'charging_session:read',
        version: 1,
        sample: { state: 'charging' },
      });
      expect(url).toBe(`${service.url}/v2/event_types/${SESSION}/versions/1/schema`);
      const schema = await service.http.get(new URL(url).pathname);
      expect([schema.status, schema.headers.get('content-type')]).toEqual([200, 'application/schema+json']);
      expect(schema.json).toMatchObject({
        type: 'object',
        required: ['id', 'state'],
        additionalProperties: true,
      });
      const etag = schema.headers.get('etag')!;
      const again = await fetch(url, { headers: { 'if-none-match': etag } });
      expect([again.status, again.headers.get('etag')]).toEqual([304, etag]);
    });

    it('has no drafts, no types without a version, and nothing else', async () => {
      const name = newName();
      await admin('PUT', `/${name}`, TYPE);
      const isListed = async () =>
        ((await service.http.get('/v2/event_types')).json as { name: string }[]).some(
          (type) => type.name === name,
        );
      expect(await isListed()).toBe(false);
      await admin('PUT', `/${name}/versions/1`, { schema: SCHEMA, draft: true });
      expect(await isListed()).toBe(false);
      for (const path of [
        `${name}/versions/1`,
        `${name}/versions/2`,
        'nothing/versions/1',
        `${SESSION}/versions/01`,
      ]) {
        expect([path, (await service.http.get(`/v2/event_types/${path}/schema`)).status]).toEqual([
          path,
          404,
        ]);
      }
      await admin('PUT', `/${name}/versions/1`, { schema: SCHEMA });
      expect(await isListed()).toBe(true);
    });
  });

  describe('The admin API', () => {
    it('refuses what is not valid, and changes nothing', async () => {
      const name = await newType();
      const before = await rowCounts(service);
      const bad: [path: string, json: object, member: string][] = [
        [`/${name}`, { ...TYPE, scope: 'nothing:read' }, 'scope'],
        [`/${name}`, { ...TYPE, scope: 'event:publish' }, 'scope'],
        [`/${name}`, { ...TYPE, scope: null }, 'scope'],
        [`/${name}`, { ...TYPE, description: '' }, 'description'],
        [`/${name}`, { ...TYPE, sample: [] }, 'sample'],
        [`/${name}`, { ...TYPE, sample: { id: 1 }, resource: null }, 'sample'],
        [`/${name}`, { ...TYPE, resource: '/nothing' }, 'resource'],
        [`/${name}`, { ...TYPE, resource: 'id' }, 'resource'],
        [`/${name}`, { ...TYPE, publisher: 'itself' }, 'publisher'],
        ['/Not.A.Name', TYPE, 'name'],
        [`/${name}/versions/3`, { schema: SCHEMA }, 'version'],
        [`/${name}/versions/0`, { schema: SCHEMA }, 'version'],
        [`/${name}/versions/x`, { schema: SCHEMA }, 'version'],
        [`/${name}/versions/2`, {}, 'schema'],
        [`/${name}/versions/2`, { schema: true }, 'schema'],
        [`/${name}/versions/2`, { schema: { type: 'nothing' } }, 'schema'],
        [`/${name}/versions/2`, { schema: { required: ['other'] } }, 'schema'],
        [`/${name}/versions/2`, { schema: { $ref: 'https://schemas.example/x' } }, 'schema'],
        [`/${name}/versions/2`, { schema: { properties: { id: { pattern: '(a+)+' } } } }, 'schema'],
        [`/${name}/versions/2`, { schema: SCHEMA, sample: {} }, 'sample'],
        [`/${name}/versions/2`, { schema: SCHEMA, draft: true, sample: { id: '2' } }, 'sample'],
        [`/${name}/versions/2`, { schema: SCHEMA, draft: 1 }, 'draft'],
      ];
      for (const [path, json, member] of bad) {
        const answer = await admin('PUT', path, json);
        expect([path, json, answer.status, Object.keys((answer.json.field_errors ?? {}) as object)]).toEqual([
          path,
          json,
          400,
          [member],
        ]);
      }
      const large = { schema: { description: 'x'.repeat(70_000) } };
      expect((await admin('PUT', `/${name}/versions/2`, large)).status).toBe(413);
      expect((await admin('PUT', '/nothing.here/versions/1', { schema: SCHEMA })).status).toBe(404);
      expect((await admin('GET', '/nothing.here')).status).toBe(404);
      expect(await rowCounts(service)).toEqual(before);
    });

    it('refuses changes of types that the service publishes itself', async () => {
      expect((await admin('PUT', '/webhook.test', TYPE)).status).toBe(409);
      expect((await admin('PUT', '/user.consent_granted/versions/2', { schema: {} })).status).toBe(409);
    });

    it('refuses tokens without its scopes', async () => {
      const reading = await service.make.clientToken(await service.make.operatorClient(['admin:read']));
      expect((await admin('GET', '', undefined, { bearer: reading })).status).toBe(200);
      for (const bearer of [reading, await service.make.clientToken(client)]) {
        expect((await admin('PUT', `/${newName()}`, TYPE, { bearer })).status).toBe(403);
      }
      expect((await admin('GET', '', undefined, { bearer: undefined })).status).toBe(401);
    });

    it('creates a type and its versions, changes them, and writes each change into the audit log', async () => {
      const name = newName();
      expect((await admin('PUT', `/${name}`, TYPE)).json).toEqual({
        ...TYPE,
        name,
        publisher: 'services',
        versions: [],
      });
      const same = await admin('PUT', `/${name}`, TYPE);
      const changed = await admin('PUT', `/${name}`, {
        ...TYPE,
        description: 'Something else.',
        resource: null,
      });
      expect([same.status, changed.status, changed.json.resource]).toEqual([200, 200, null]);
      const first = await admin('PUT', `/${name}/versions/1`, { schema: SCHEMA, draft: true });
      expect([first.status, first.json]).toEqual([
        201,
        { version: 1, schema: SCHEMA, draft: true, used: false },
      ]);
      expect((await admin('PUT', `/${name}/versions/1`, { schema: {} })).status).toBe(200);
      expect((await admin('PUT', `/${name}/versions/1`, { schema: {} })).status).toBe(200);
      const sample = { name: 'x' };
      const second = await admin('PUT', `/${name}/versions/2`, { schema: { required: ['name'] }, sample });
      expect(second.status).toBe(201);
      const { json } = await admin('GET', `/${name}`);
      expect([json.sample, (json.versions as { version: number }[]).map(({ version }) => version)]).toEqual([
        sample,
        [1, 2],
      ]);
      const log = await service.database.query<{ action: string }>(
        'SELECT action FROM audit_events WHERE subject_id = $1 ORDER BY id',
        [name],
      );
      expect(log.map(({ action }) => action)).toEqual([
        'event_type.created',
        'event_type.updated',
        'event_type.version_created',
        'event_type.version_updated',
        'event_type.version_created',
      ]);
    });

    it('changes no scope while an endpoint subscribes, and none of a version that was published', async () => {
      const name = await newType();
      const other = { ...TYPE, scope: 'charging_session:read' };
      const subscribed = await webhooks.endpoint(client, { types: [name] });
      expect((await admin('PUT', `/${name}`, other)).status).toBe(409);
      expect((await admin('PUT', `/${name}`, { ...TYPE, description: 'Still possible.' })).status).toBe(200);
      await service.http.send(`/admin/webhook_endpoints/${subscribed.id}`, {
        method: 'DELETE',
        bearer: webhooks.bearer,
      });
      expect((await admin('PUT', `/${name}`, other)).status).toBe(200);

      expect((await admin('PUT', `/${name}/versions/1`, { schema: {} })).status).toBe(200);
      expect((await publish({ type: name, data: { id: '1' } })).status).toBe(202);
      expect((await admin('PUT', `/${name}/versions/1`, { schema: SCHEMA })).status).toBe(409);
      expect((await admin('PUT', `/${name}/versions/1`, { schema: {}, draft: true })).status).toBe(409);
      expect((await admin('PUT', `/${name}/versions/1`, { schema: {} })).status).toBe(200);
      expect((await admin('GET', `/${name}`)).json.versions).toMatchObject([{ version: 1, used: true }]);
    });

    it('accepts each event by one schema, however a change and the first events meet', async () => {
      const name = await newType({}, {});
      const strictly = { type: 'object', required: ['id', 'kwh'] };
      const put = () =>
        admin('PUT', `/${name}/versions/1`, { schema: strictly, sample: { id: '1', kwh: 1 } });
      const answers = await Promise.all([
        publish({ type: name, data: { id: '1' } }),
        put(),
        ...service.instances.map((instance) => publishAt(instance, { type: name, data: { id: '1' } })),
        put(),
      ]);
      const [first, ...others] = answers;
      expect([first!.status, ...others.map(({ status }) => status)]).not.toContain(500);
      const { versions } = (await admin('GET', `/${name}`)).json as {
        versions: { schema: object; used: boolean }[];
      };
      expect(versions[0]!.used).toBe(true);
      const changed = answers.filter((answer) => answer.json.version === 1).length > 0;
      expect(versions[0]!.schema).toEqual(changed ? strictly : {});
    });
  });

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
        expect([version, answer.status, Object.keys(answer.json.field_errors as object)]).toEqual([
          version,
          400,
          ['version'],
        ]);
      }
      const empty = newName();
      await admin('PUT', `/${empty}`, TYPE);
      const answer = await publish({ type: empty, data: { id: '1' } });
      expect([answer.status, Object.keys(answer.json.field_errors as object)]).toEqual([400, ['type']]);
    });

    it('accepts data that breaks its schema, counts it and logs where, but no value', async () => {
      const data = { id: 'the-secret-of-a-session', state: 7 };
      expect((await publish({ type: SESSION, data })).status).toBe(202);
      expect((await publish({ type: SESSION, data })).status).toBe(202);
      const metrics = (await service.http.get('/metrics')).text;
      expect(metrics).toMatch(
        /event_schema_breaks_total\{type="charging_session.updated",version="1"\} [2-9]/,
      );
      // Nest's logger is the last instance's.
      const log = [...service.instances, strict].flatMap((instance) => instance.log);
      const lines = log.filter((line) => line.includes('breaks its schema') && line.includes('data.state'));
      expect(lines).toHaveLength(1);
      expect(lines[0]).toContain('charging_session.updated, version 1, at data.state');
      expect(log.join('\n')).not.toContain('the-secret-of-a-session');
    });

    it('refuses it with EVENT_SCHEMA_CHECK=refuse, and stores nothing', async () => {
      const before = await rowCounts(service);
      const broken: [data: object, path: string][] = [
        [{}, 'data.id'],
        [{ id: '', state: 'charging' }, 'data.id'],
        [{ id: '1', state: 'charging', energy_kwh: -1 }, 'data.energy_kwh'],
        [{ id: '1', state: 'charging', plugged_in_at: 'yesterday' }, 'data.plugged_in_at'],
      ];
      for (const [data, path] of broken) {
        const answer = await publishAt(strict, { type: SESSION, data }, { 'idempotency-key': 'broken' });
        expect([answer.status, Object.keys(answer.json.field_errors as object)]).toEqual([400, [path]]);
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
      const before = webhooks.received(endpoint).length;
      const data = { id: 'delivered', state: 'charging' };
      await publish({ type: SESSION, data });
      await publish({ type: SESSION, data: { ...data, state: 'ended' } });
      await webhooks.receives(endpoint, before + 2);
      const requests = webhooks.received(endpoint).slice(before);
      const bodies = requests
        .map(({ body }) => JSON.parse(body) as Body)
        .sort((a, b) => a.sequence! - b.sequence!);
      expect(bodies.map(({ sequence }) => sequence)).toEqual([1, 2]);
      for (const { headers, body } of requests) {
        expect(headers['webhook-event-version']).toBe('1');
        expect(body).toMatch(/\},"sequence":\d\}$/);
        expect(Object.keys(JSON.parse(body) as object)).toEqual([
          'id',
          'type',
          'timestamp',
          'user_id',
          'data',
          'sequence',
        ]);
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
      const events = Array.from({ length: 120 }, (_, index) => ids[index % 3]!);
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
        expect(sequences).toEqual(Array.from({ length: 40 }, (_, index) => index + 1));
      }
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
});
