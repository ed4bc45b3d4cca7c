import { readFileSync } from 'node:fs';
import { EVENT_RESOURCES, EVENT_SCHEMAS } from '../../migrations/event-schemas.js';
import { EVENT_TYPES } from '../../migrations/event-types.js';
import { acceptSchema } from '#events/webhooks/event-types/event-schema.js';
import { idAt } from '#events/webhooks/event-types/schema-parts.js';
import { schemaRefusal } from '../support/schema-refusal.js';

describe('The schemas of the first event types', () => {
  it.each(EVENT_TYPES)(
    '%s: there is one, its sample fits, and members may be added',
    (name, scope, publisher, _text, sample) => {
      const check = acceptSchema(EVENT_SCHEMAS[name]!);
      expect(check(sample)).toBeUndefined();
      expect(check({ ...sample, another: { member: [1] } })).toBeUndefined();
      expect(check({})).toMatchObject({ message: 'is required' });
      const pointer = EVENT_RESOURCES[name];
      expect(pointer !== undefined).toBe(publisher === 'services');
      if (pointer) expect(idAt(pointer, sample)).toBe((sample as { id: string }).id);
      expect(scope === null).toBe(publisher === 'itself');
    },
  );

  it('are those of the delivery that the guide shows, with its members in their order', () => {
    const guide = readFileSync('src/entrypoints/api-docs/guides/webhooks.md', 'utf8');
    const shown = JSON.parse(/^\{"id":"evnt.*$/m.exec(guide)![0]) as { type: string; data: object };
    expect(Object.keys(shown)).toEqual(['id', 'type', 'timestamp', 'user_id', 'data', 'sequence']);
    expect(acceptSchema(EVENT_SCHEMAS[shown.type]!)(shown.data)).toBeUndefined();
  });
});

describe('A schema', () => {
  it('says where data breaks it, and never a value', () => {
    const check = acceptSchema({
      type: 'object',
      properties: {
        at: { type: 'string', format: 'date-time' },
        parts: { type: 'array', items: { type: 'object', properties: { kwh: { type: 'number' } } } },
        code: { type: 'string', pattern: '^[A-Z]{2}-[0-9]+$' },
        'a/b': { const: 1 },
      },
      required: ['at'],
      additionalProperties: false,
    });
    expect(check({ at: '2026-01-01T00:00:00Z', code: 'AB-1' })).toBeUndefined();
    const breaks: [data: object, path: string][] = [
      [{}, 'data.at'],
      [{ at: 'secret' }, 'data.at'],
      [{ at: '2026-01-01T00:00:00Z', parts: [{}, { kwh: 'secret' }] }, 'data.parts.1.kwh'],
      [{ at: '2026-01-01T00:00:00Z', code: 'secret' }, 'data.code'],
      [{ at: '2026-01-01T00:00:00Z', 'a/b': 'secret' }, 'data.a/b'],
      [{ at: '2026-01-01T00:00:00Z', other: 'secret' }, 'data.other'],
    ];
    for (const [data, path] of breaks) {
      const broken = check(data);
      expect(broken?.path).toBe(path);
      expect(broken?.message).not.toContain('secret');
    }
    expect(check({ at: 'x'.repeat(60_000) })?.path).toBe('data.at');
  });

  it('knows no members that objects inherit', () => {
    const check = acceptSchema({
      type: 'object',
      properties: { constructor: { type: 'string' } },
      required: ['toString'],
    });
    expect(check({})?.path).toBe('data.toString');
    expect(check({ toString: 1 })).toBeUndefined();
  });

  it.each([
    ['is no schema', { type: 'nothing' }, 'is not a JSON Schema'],
    ['has a member that is none', { properties: 7 }, 'is not a JSON Schema'],
    ['has an unknown keyword', { typ: 'object' }, 'is not accepted'],
    ['has an unknown format', { format: 'regex' }, 'is not accepted'],
    ['is of another dialect', { $schema: 'http://json-schema.org/draft-07/schema#' }, '$schema must be'],
    ['refers elsewhere', { $ref: 'https://schemas.example/x.json' }, 'may refer only to parts of itself'],
    [
      'refers to a file',
      { properties: { a: { $ref: 'other.json#/x' } } },
      'may refer only to parts of itself',
    ],
    ['refers to what is not there', { $ref: '#/$defs/x' }, 'refers to something'],
    ['names itself', { $id: 'https://schemas.example/x.json' }, 'must not contain $id'],
    ['names a part', { $defs: { a: { $anchor: 'a' } } }, 'must not contain $anchor'],
    ['is asynchronous', { $async: true }, 'must not contain $async'],
    ['refers to itself', { $ref: '#' }, 'at most 1000 parts'],
    [
      'refers to itself deep inside',
      { properties: { a: { properties: { b: { $ref: '#/properties/a' } } } } },
      'at most 1000 parts',
    ],
    ['compares long lists', { items: { uniqueItems: true } }, 'uniqueItems needs maxItems'],
    ['has a pattern that looks ahead', { pattern: '^(?=a)a$' }, 'pattern must be'],
    ['has such a pattern of names', { patternProperties: { '(a)\\1': {} } }, 'pattern must be'],
  ])('that %s is refused', (_what, schema, reason) => {
    expect(schemaRefusal(schema as Record<string, unknown>)).toContain(reason);
  });

  it('that doubles itself at every step is refused', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 30 }, (_, n) => [
        `d${n}`,
        { allOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] },
      ]),
    );
    expect(schemaRefusal({ $ref: '#/$defs/d0', $defs: { ...$defs, d30: {} } })).toContain(
      'at most 1000 parts',
    );
  });

  it('may refer to its own parts', () => {
    const check = acceptSchema({
      properties: { from: { $ref: '#/$defs/place' }, to: { $ref: '#/$defs/place' } },
      $defs: { place: { type: 'object', required: ['lat'] } },
    });
    expect(check({ from: { lat: 1 }, to: {} })?.path).toBe('data.to.lat');
  });
});

describe('The id that a JSON Pointer leads to', () => {
  const data = { id: 'x', n: 7, a: { 'b/c': ['y'] }, long: 'z'.repeat(256), empty: '', list: [] };

  it.each([
    ['/id', 'x'],
    ['/n', '7'],
    ['/a/b~1c/0', 'y'],
    ['/missing', null],
    ['/toString', null],
    ['/long', null],
    ['/empty', null],
    ['/a', null],
    ['/list', null],
    ['id', null],
    ['', null],
  ])('%s is %s', (pointer, id) => expect(idAt(pointer, data)).toBe(id));
});
