import { acceptSchema } from '#events/webhooks/event-types/event-schema.js';
import { processorTime } from '../support/processor-time.js';
import { schemaRefusal } from '../support/schema-refusal.js';

/** What the check says, and that it took little of the processor: a second and more where there is no budget. */
function judgedQuickly(schema: Record<string, unknown>, data: unknown): string | undefined {
  const check = acceptSchema(schema);
  let message: string | undefined;
  // Measured: 30 to 150 ms for what uses up the budget.
  expect(processorTime(() => (message = check(data)?.message))).toBeLessThan(1_500);
  return message;
}

const OVER_BUDGET = 'is too much to check against its schema';

describe('A schema that would keep the service busy', () => {
  // Accepted before, and took seconds: three parts of varying length each, tried in every way.
  it('is held by its budget: patterns that could be tried in many ways', () => {
    const allOf = Array.from({ length: 100 }, (_, n) => ({ not: { pattern: `^.*.*.*#${n}$` } }));
    const texts = Array.from({ length: 8 }, () => 'a'.repeat(256));
    expect([undefined, OVER_BUDGET]).toContain(
      judgedQuickly({ type: 'object', additionalProperties: { allOf } }, { ...texts }),
    );
  });

  it('is held by its budget: a pattern of each kind for a text of 60 kB', () => {
    const allOf = Array.from({ length: 10 }, (_, n) => ({ not: { pattern: `(?:[ab]{${n + 1}}){20}#` } }));
    expect(judgedQuickly({ items: { allOf } }, ['ab'.repeat(30_000)])).toBe(OVER_BUDGET);
  });

  it('is held by its budget: lists of values that many items are compared with', () => {
    const schema = { items: { not: { enum: Array.from({ length: 900 }, (_, n) => `v${n}`) } } };
    expect(judgedQuickly(schema, Array(15_000).fill('x'))).toBe(OVER_BUDGET);
    expect(judgedQuickly(schema, Array(100).fill('x'))).toBeUndefined();
  });

  it('is held by its budget: items that are compared with each other, again and again', () => {
    const allOf = Array.from({ length: 40 }, () => ({ uniqueItems: true, maxItems: 100 }));
    const lists = Array.from({ length: 250 }, () => Array.from({ length: 100 }, (_, n) => n));
    expect(judgedQuickly({ items: { allOf } }, lists)).toBe(OVER_BUDGET);
  });

  it('is held by its budget: one format after the other for a long text', () => {
    const allOf = Array.from({ length: 300 }, () => ({ not: { format: 'uri' } }));
    expect(judgedQuickly({ items: { allOf } }, [`x:${'a'.repeat(60_000)} `])).toBe(OVER_BUDGET);
  });

  it('has the budget anew for every event', () => {
    const check = acceptSchema({ items: { pattern: '^(?:[ab]{9}){9}$' } });
    const items = Array.from({ length: 100 }, () => 'ab'.repeat(200));
    for (let event = 0; event < 3; event++) expect(check(items)).toMatchObject({ path: 'data.0' });
    const held = acceptSchema({ items: { not: { pattern: '^(?:[ab]{9}){9}#' } } });
    for (let event = 0; event < 3; event++)
      expect(held(Array(300).fill('ab'.repeat(200)))).toEqual({ path: 'data', message: OVER_BUDGET });
    expect(held(['a'])).toBeUndefined();
  });

  it('is refused if it has too many values in its lists', () => {
    const values = Array.from({ length: 3_000 }, (_, n) => n);
    expect(schemaRefusal({ enum: values })).toBe('accepted');
    const allOf = [{ $ref: '#/$defs/e' }, { $ref: '#/$defs/e' }];
    expect(schemaRefusal({ allOf, $defs: { e: { enum: values } } })).toContain(
      'at most 5000 values in its lists',
    );
  });

  it('is refused if its patterns are too large together', () => {
    const sized = (count: number) => ({
      allOf: Array.from({ length: count }, (_, n) => ({ pattern: `^[a-z]{${900 + n}}$` })),
    });
    expect(schemaRefusal(sized(4))).toBe('accepted');
    expect(schemaRefusal(sized(6))).toContain('patterns are too large');
  });
});

describe('A name that objects inherit', () => {
  it.each(['__proto__', 'valueOf', 'toString', 'constructor', 'hasOwnProperty'])(
    'is no format: %s',
    (format) => {
      expect(schemaRefusal({ format })).toContain('is not accepted');
      expect(schemaRefusal({ type: 'object', properties: { a: { format } } })).toContain('is not accepted');
    },
  );

  it.each(['valueOf', 'toString', 'constructor', '__proto__'])('is no keyword: %s', (name) => {
    expect(schemaRefusal(JSON.parse(`{"${name}": {"type": "string"}}`) as Record<string, unknown>)).toContain(
      'is not accepted',
    );
  });
});
