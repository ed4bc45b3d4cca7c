import { EVENT_TYPES } from '../../migrations/event-types.js';
import { CONSOLE } from '../support/console.js';
import { NEW_TYPE, SCHEMA, SESSION, setUpEventTypes } from '../support/event-types.js';
import { whileHeld } from '../support/held-rows.js';
import { membersIn, rowCounts } from '../support/spec.js';
import { errorsIn } from '../support/plain-words.js';
import { listOf } from '../support/list-of.js';

describe('The catalogue of event types:', () => {
  const { service, webhooks, client, user, admin, newName, newType, publishAt } = setUpEventTypes();

  const publish = (fields: Record<string, unknown>) => webhooks.publish(user.id, fields);

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
      await admin('PUT', `/${name}`, NEW_TYPE);
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
        [`/${name}`, { ...NEW_TYPE, scope: 'nothing:read' }, 'scope'],
        [`/${name}`, { ...NEW_TYPE, scope: 'event:publish' }, 'scope'],
        [`/${name}`, { ...NEW_TYPE, scope: null }, 'scope'],
        [`/${name}`, { ...NEW_TYPE, description: '' }, 'description'],
        [`/${name}`, { ...NEW_TYPE, sample: [] }, 'sample'],
        // A receiver could not tell its events from batches.
        ['/batch', NEW_TYPE, 'name'],
        [`/${name}`, { ...NEW_TYPE, sample: { id: 1 }, resource: null }, 'sample'],
        [`/${name}`, { ...NEW_TYPE, resource: '/nothing' }, 'resource'],
        [`/${name}`, { ...NEW_TYPE, resource: 'id' }, 'resource'],
        [`/${name}`, { ...NEW_TYPE, publisher: 'itself' }, 'publisher'],
        ['/Not.A.Name', NEW_TYPE, 'name'],
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
        expect([path, json, answer.status, membersIn(answer)]).toEqual([path, json, 400, [member]]);
      }
      const large = { schema: { description: 'x'.repeat(70_000) } };
      expect((await admin('PUT', `/${name}/versions/2`, large)).status).toBe(413);
      expect((await admin('PUT', '/nothing.here/versions/1', { schema: SCHEMA })).status).toBe(404);
      expect((await admin('GET', '/nothing.here')).status).toBe(404);
      expect(await rowCounts(service)).toEqual(before);
    });

    it('refuses changes of types that the service publishes itself', async () => {
      expect((await admin('PUT', '/webhook.test', NEW_TYPE)).status).toBe(409);
      expect((await admin('PUT', '/user.consent_granted/versions/2', { schema: {} })).status).toBe(409);
    });

    it('creates a type and its versions, changes them, and writes each change into the audit log', async () => {
      const name = newName();
      expect((await admin('PUT', `/${name}`, NEW_TYPE)).json).toEqual({
        ...NEW_TYPE,
        name,
        translations: {},
        publisher: 'services',
        versions: [],
      });
      const same = await admin('PUT', `/${name}`, NEW_TYPE);
      const changed = await admin('PUT', `/${name}`, {
        ...NEW_TYPE,
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
      const log = await service.database.column<string>(
        'SELECT action FROM audit_events WHERE subject_id = $1 ORDER BY id',
        [name],
      );
      expect(log).toEqual(
        listOf(`
        event_type.created, event_type.updated, event_type.version_created, event_type.version_updated,
        event_type.version_created
      `),
      );
    });

    it('writes nothing for the same sample, whatever the order of its members', async () => {
      const name = newName();
      const type = { ...NEW_TYPE, sample: { session_id: 's', id: '1', of: { zz: 1, a: 2 } } };
      await admin('PUT', `/${name}`, type);
      expect((await admin('PUT', `/${name}`, type)).status).toBe(200);
      const log = await service.database.column('SELECT action FROM audit_events WHERE subject_id = $1', [
        name,
      ]);
      expect(log).toEqual(['event_type.created']);
    });

    it('keeps a sample that fits the current version, whichever version changes', async () => {
      const name = await newType();
      const required = { type: 'object', required: ['id', 'kwh'] };
      const both = { schema: required, sample: { id: '1', kwh: 2 } };
      expect((await admin('PUT', `/${name}/versions/2`, both)).status).toBe(201);
      const breaks = await admin('PUT', `/${name}/versions/1`, { schema: SCHEMA, sample: { id: '1' } });
      expect([breaks.status, membersIn(breaks)]).toEqual([400, ['sample']]);
      const third = { schema: {}, sample: { id: '1', other: true } };
      expect((await admin('PUT', `/${name}/versions/3`, third)).status).toBe(201);
      const draft = await admin('PUT', `/${name}/versions/3`, { schema: {}, draft: true });
      expect([draft.status, membersIn(draft)]).toEqual([400, ['draft']]);
    });

    it('says beside the field of the console which name the service uses itself', async () => {
      const browser = await service.make.signedInNew({ role: 'operator' });
      const page = await browser.fillIn(`${CONSOLE}/event-types/new`, { name: 'batch' });
      expect([page.status, errorsIn(page).name]).toEqual([
        400,
        expect.stringContaining('another name than batch'),
      ]);
    });

    it('says beside the field of the console why the current version is no draft again', async () => {
      const name = await newType();
      const second = { schema: {}, sample: { id: '1', kwh: 'much' } };
      expect((await admin('PUT', `/${name}/versions/2`, second)).status).toBe(201);
      const browser = await service.make.signedInNew({ role: 'operator' });
      const page = await browser.fillIn(`${CONSOLE}/event-types/${name}/versions/2`, { state: 'draft' });
      expect([page.status, errorsIn(page)]).toEqual([400, { state: expect.stringContaining('sample.kwh') }]);
    });

    it('keeps what others have changed since a form of the console was opened', async () => {
      const name = await newType();
      const browser = await service.make.signedInNew({ role: 'operator' });
      const path = `${CONSOLE}/event-types/${name}`;
      const open = (form: string) => browser.open(`${path}/${form}`);
      const pages = {
        type: await open('edit'),
        first: await open('versions/1'),
        next: await open('versions/2'),
      };
      const others = { ...NEW_TYPE, sample: { id: '1', kwh: 2 }, resource: null };
      expect((await admin('PUT', `/${name}`, others)).status).toBe(200);
      const schema = { ...SCHEMA, required: ['id', 'kwh'] };
      expect((await admin('PUT', `/${name}/versions/1`, { schema })).status).toBe(200);
      expect((await admin('PUT', `/${name}/versions/2`, { schema: {} })).status).toBe(201);
      const again = await browser.submit(pages.next, `${path}/versions/2`, { schema: '{"type":"object"}' });
      expect([again.status, again.text]).toEqual([400, expect.stringContaining('Someone else has created')]);
      const twice = await browser.submit(again, `${path}/versions/2`);
      const type = await browser.submit(pages.type, `${path}/edit`, { description: 'Mine.' });
      const first = await browser.submit(pages.first, `${path}/versions/1`, { state: 'draft' });
      expect([twice.status, type.status, first.status]).toEqual([400, 303, 303]);
      expect((await admin('GET', `/${name}`)).json).toMatchObject({
        ...others,
        description: 'Mine.',
        versions: [
          { version: 1, schema, draft: true },
          { version: 2, schema: {}, draft: false },
        ],
      });
    });

    it('keeps its scope for partners while it needs it', async () => {
      const bearer = webhooks.bearer;
      const put = (audience: string) =>
        service.http.send('/admin/scopes/unheld:read', {
          method: 'PUT',
          bearer,
          json: { description: 'See what nobody holds', audience },
        });
      expect((await put('partner')).status).toBe(201);
      await newType({ scope: 'unheld:read' });
      expect((await put('operator')).status).toBe(409);
    });

    it('does not need a scope that is given to operators at that moment', async () => {
      const json = { description: 'See what nobody needs', audience: 'partner' };
      const scope = 'unneeded:read';
      await service.http.send(`/admin/scopes/${scope}`, { method: 'PUT', bearer: webhooks.bearer, json });
      const changing = `WITH held AS (SELECT name FROM scopes WHERE name = $1 FOR UPDATE)
        UPDATE scopes SET audience = 'operator' FROM held WHERE scopes.name = held.name`;
      const creating = [() => admin('PUT', `/${newName()}`, { ...NEW_TYPE, scope })];
      const [answer] = await whileHeld(service, [changing, [scope]], creating, 'COMMIT');
      expect([answer!.status, membersIn(answer!)]).toEqual([400, ['scope']]);
    });

    it('changes no scope while an endpoint subscribes, and none of a version that was published', async () => {
      const name = await newType();
      const other = { ...NEW_TYPE, scope: 'charging_session:read' };
      const subscribed = await webhooks.endpoint(client, { types: [name] });
      expect((await admin('PUT', `/${name}`, other)).status).toBe(409);
      expect((await admin('PUT', `/${name}`, { ...NEW_TYPE, description: 'Still possible.' })).status).toBe(
        200,
      );
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
});
