import { Parser } from '@asyncapi/parser';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { asyncApiOf } from '#entrypoints/api-docs/asyncapi.js';
import type { OpenApiDocument, Schema } from '#entrypoints/api-docs/openapi.js';
import { committedDocument } from '../support/openapi-document.js';

/** The document of one event type whose `data` has this schema. */
function withData(data: Schema): OpenApiDocument {
  const [[name, { post }]] = Object.entries(committedDocument.webhooks) as [
    [string, OpenApiDocument['webhooks'][string]],
  ];
  const { requestBody, ...operation } = post!;
  const media = { ...requestBody!.content['application/json']!, schema: data };
  const content = { 'application/json': media };
  return {
    ...committedDocument,
    webhooks: { [name]: { post: { ...operation, requestBody: { required: true, content } } } },
  };
}

const payloadOf = (data: Schema): Schema => {
  const { components } = asyncApiOf(withData(data)) as {
    components: { messages: Record<string, { payload: Schema }> };
  };
  return Object.values(components.messages)[0]!.payload;
};

describe('The AsyncAPI document', () => {
  it('is read without an error by the parser of AsyncAPI, with a message and an operation for each event type', async () => {
    const { document, diagnostics } = await new Parser().parse(JSON.stringify(asyncApiOf(committedDocument)));
    expect(diagnostics.filter(({ code }) => code !== 'asyncapi-latest-version')).toEqual([]);
    const types = Object.keys(committedDocument.webhooks).sort();
    expect(types).toContain('charging_session.ended');
    expect(
      document!
        .messages()
        .all()
        .map((message) => message.name())
        .sort(),
    ).toEqual(types);
    const operations = document!.operations().filterBySend();
    expect(
      operations.map((operation) =>
        operation
          .messages()
          .all()
          .map((message) => message.name()),
      ),
    ).toEqual(Object.keys(committedDocument.webhooks).map((type) => [type]));
    const [message] = operations[0]!.messages().all();
    expect(message!.headers()!.required()).toContain('webhook-signature');
    expect(message!.payload()!.properties()!.data!.properties()).toHaveProperty('energy_kwh');
  });

  it('is refused by the parser with a schema that is none, so that this judge sees the payloads', async () => {
    const { diagnostics } = await new Parser().parse(JSON.stringify(asyncApiOf(withData({ type: 'text' }))));
    expect(diagnostics.filter(({ severity }) => severity === 0)).not.toEqual([]);
  });

  it('has an example of each event that its payload allows, by draft 7', () => {
    const { components } = asyncApiOf(committedDocument) as {
      components: { messages: Record<string, { payload: Schema; examples: { payload: unknown }[] }> };
    };
    for (const [type, { payload, examples }] of Object.entries(components.messages)) {
      const validate = new Ajv({ strict: false, validateFormats: false }).compile({ ...payload, components });
      expect([type, validate(examples[0]!.payload), validate.errors]).toEqual([type, true, null]);
      expect(validate({ ...(examples[0]!.payload as object), data: null })).toBe(false);
    }
  });

  it.each<[string, Schema, allowed: unknown[], refused: unknown[]]>([
    [
      'a tuple',
      { prefixItems: [{ type: 'string' }, { type: 'number' }], items: false },
      [['a', 1], ['a']],
      [
        [1, 'a'],
        ['a', 1, 2],
      ],
    ],
    [
      'a reference with something beside it',
      { $defs: { short: { maxLength: 2 } }, $ref: '#/$defs/short', minLength: 2, allOf: [{ pattern: 'a' }] },
      ['ab'],
      ['a', 'abc', 'bb'],
    ],
    [
      'members that need others',
      { dependentRequired: { a: ['b'] }, dependentSchemas: { b: { required: ['c'] } } },
      [{ a: 1, b: 1, c: 1 }, { c: 1 }],
      [{ a: 1 }, { a: 1, b: 1 }],
    ],
    ['an item that may be missing', { contains: { const: 1 }, minContains: 0 }, [[], [2]], []],
    [
      'members and values with the names of keywords',
      { properties: { $ref: { const: { prefixItems: 1 } }, items: { enum: [{ $ref: 'x', a: 1 }] } } },
      [{ $ref: { prefixItems: 1 }, items: { $ref: 'x', a: 1 } }],
      [{ $ref: { items: 1 } }, { items: {} }],
    ],
  ])('reads %s as JSON Schema 2020-12 does', (_what, schema, allowed, refused) => {
    const [before, after] = [
      new Ajv2020({ strict: false }).compile(schema),
      new Ajv({ strict: false }).compile(payloadOf(schema)),
    ];
    for (const value of allowed) expect([value, before(value), after(value)]).toEqual([value, true, true]);
    for (const value of refused) expect([value, before(value), after(value)]).toEqual([value, false, false]);
  });
});
