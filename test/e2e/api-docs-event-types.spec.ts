import { Ajv2020 } from 'ajv/dist/2020.js';
import type { OpenApiDocument } from '#entrypoints/api-docs/openapi.js';
import { putClockForward } from '../support/clock.js';
import { unexpectedErrors, useService } from '../support/spec.js';

const METER = {
  $defs: { reading: { type: 'object', properties: { kwh: { type: 'number' } }, required: ['kwh'] } },
  type: 'object',
  properties: {
    id: { type: 'string' },
    first: { $ref: '#/$defs/reading' },
    readings: { type: 'array', items: { $ref: '#/$defs/reading' } },
    // Names of members and values that look like keywords.
    const: { enum: ['a', 1, null] },
    like: { const: { enum: { $ref: '#/$defs/reading' } } },
    any: true,
    list: { type: 'array' },
  },
  required: ['id'],
};
const SAMPLE = { id: '1', first: { kwh: 1.5 }, readings: [{ kwh: 2 }] };

describe('The API description, when operators change the catalogue of event types', () => {
  const service = useService({ instances: 2 });
  let bearer: string;

  beforeAll(async () => (bearer = await service.make.adminToken()));
  afterEach(() => expect(unexpectedErrors(service)).toEqual([]));

  const put = async (path: string, json: object) => {
    const answer = await service.http.send(`/admin/event_types/${path}`, { method: 'PUT', bearer, json });
    expect([answer.json, answer.status < 300]).toEqual([expect.anything(), true]);
  };
  const type = (more: object = {}) => ({
    description: 'A meter was read.',
    scope: 'vehicle:read',
    sample: SAMPLE,
    resource: '/id',
    ...more,
  });
  /** Ten seconds later, of both instances. */
  const documents = async (): Promise<OpenApiDocument[]> => {
    putClockForward(10);
    const answers = await Promise.all(service.instances.map(({ http }) => http.get('/openapi.json')));
    return answers.map(({ json }) => json as unknown as OpenApiDocument);
  };
  const schemaOf = ({ webhooks }: OpenApiDocument, name: string) =>
    webhooks[name]!.post!.requestBody!.content['application/json']!;

  it('has each type that can be published, with its schema by name, on every instance', async () => {
    const before = await service.http.get('/openapi.json');
    await put('meter.read', type());
    await put('meter.draft', type());
    await put('meter.draft/versions/1', { schema: METER, draft: true });
    await put('meter.read/versions/1', { schema: METER });
    for (const document of await documents()) {
      expect(document.webhooks['meter.draft']).toBeUndefined();
      const { schema, example } = schemaOf(document, 'meter.read');
      expect(schema).toMatchObject({
        properties: { data: { $ref: '#/components/schemas/MeterReadData' }, sequence: { type: 'integer' } },
      });
      const ajv = new Ajv2020({ strict: false, validateFormats: false });
      ajv.addSchema({ $id: 'document', components: document.components });
      const absolute = JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/');
      const validate = ajv.compile(JSON.parse(absolute) as object);
      expect([validate(example), validate.errors]).toEqual([true, null]);
      expect(validate({ ...(example as object), data: { id: '1', first: { kwh: 'x' } } })).toBe(false);
      const { properties } = document.components.schemas.MeterReadData as { properties: object };
      expect(properties).toMatchObject({
        first: { $ref: '#/components/schemas/MeterReadData/$defs/reading' },
        like: { const: { enum: { $ref: '#/$defs/reading' } } },
      });
      // The rest is as it was: generated, as api-docs.spec.ts shows.
      const { paths, components, webhooks } = before.json as OpenApiDocument;
      expect(document.paths).toEqual(paths);
      expect(document.components.schemas).toMatchObject(components.schemas);
      expect(Object.keys(document.webhooks)).toEqual([...Object.keys(webhooks), 'meter.read']);
    }
    const after = await service.http.get('/openapi.json');
    const etag = after.headers.get('etag')!;
    expect(etag).not.toBe(before.headers.get('etag'));
    expect(after.headers.get('cache-control')).toBe('public, max-age=60');
    const again = await service.http.get('/openapi.json', { headers: { 'if-none-match': etag } });
    expect(again.status).toBe(304);
    const { headers, json } = await service.http.get('/asyncapi.json');
    expect([headers.get('content-type'), headers.get('cache-control')]).toEqual([
      'application/json; charset=utf-8',
      'public, max-age=60',
    ]);
    const { webhooks } = after.json as unknown as OpenApiDocument;
    const { info, channels, operations, components } = json as unknown as {
      info: { description: string };
      channels: { endpoint: { messages: object } };
      operations: object;
      components: { messages: Record<string, { payload: object }>; schemas: object };
    };
    expect(info.description).toContain(`${service.url}/openapi.json`);
    expect(Object.keys(channels.endpoint.messages)).toEqual(Object.keys(webhooks));
    expect(operations).toHaveProperty('meterRead');
    expect(components.messages['meter.read']!.payload).toMatchObject({
      properties: { data: { $ref: '#/components/schemas/MeterReadData' } },
    });
    expect(components.schemas).toHaveProperty(['MeterReadData', '$defs', 'reading']);
  });

  it('has a type that came with the service as it is now', async () => {
    const name = 'vehicle.deleted';
    const { json } = await service.http.get(`/admin/event_types/${name}`, { bearer });
    const { scope, sample, resource } = json as Record<string, unknown>;
    await put(name, { scope, sample, resource, description: 'A vehicle is gone: {nonce}.' });
    const schema = { type: 'object', properties: { id: { type: 'string' }, why: { type: 'string' } } };
    await put(`${name}/versions/2`, { schema });
    const [document] = await documents();
    expect(document!.webhooks[name]!.post).toMatchObject({
      summary: name,
      description: expect.stringMatching(/^A vehicle is gone: \{nonce\}\. Requires the scope/) as string,
    });
    // The search has it, too.
    const { text } = await service.http.get(`/docs/search?q=${name}`, { headers: { accept: 'text/html' } });
    expect(text).toContain('A vehicle is gone: {nonce}.');
    expect(document!.webhooks[name]!.post!.operationId).toBe('vehicleDeleted');
    expect(document!.components.schemas.VehicleDeletedData).toEqual(schema);
  });

  it('gives types whose names would be the same different ones', async () => {
    for (const name of ['list.users', 'list_users', 'meter_read']) {
      await put(name, type());
      await put(`${name}/versions/1`, { schema: METER });
    }
    const [document] = await documents();
    const ids = [document!.paths, document!.webhooks].flatMap((paths) =>
      Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId)),
    );
    expect(new Set(ids).size).toBe(ids.length);
    const names = ['list.users', 'list_users', 'meter.read', 'meter_read'].map(
      (name) => (schemaOf(document!, name).schema.properties as { data: { $ref: string } }).data.$ref,
    );
    expect(new Set(names).size).toBe(4);
  });

  it('is served as it was, if the catalogue cannot be read', async () => {
    const [before] = await documents();
    await service.database.query('ALTER TABLE event_types RENAME TO event_types_away');
    try {
      expect((await documents())[0]).toEqual(before);
    } finally {
      await service.database.query('ALTER TABLE event_types_away RENAME TO event_types');
    }
  });
});
