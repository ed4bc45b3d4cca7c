import fc from 'fast-check';
import { linearPattern } from '#events/webhooks/event-types/linear-pattern.js';

const pattern = (text: string) => linearPattern(text, () => undefined);

describe('A pattern of a schema', () => {
  it.each([
    '^$',
    'a',
    '^a|b$',
    '^(a|b)+$',
    '^[A-Z]{2}[0-9]+$',
    '^\\d{4}-\\d{2}$',
    '^[^\\s@]+@[^\\s@]+$',
    '^v\\d+\\.\\d+\\.\\d+$',
    '^clnt[0-7].{25}$',
    '^a*a*a*a*$',
    '^a+?$',
    '^(?:\\+|00)[1-9][0-9]{3,14}$',
    '\\bx\\B',
    '^[\\s\\S]*$',
  ])('is accepted: %s', (text) => expect(pattern(text).toString()).toBe(text));

  it.each([
    ['looks ahead', '^(?=a)a$'],
    ['looks behind', '(?<!a)b'],
    ['repeats what a group found', '^(a)\\1$'],
    ['names a group', '^(?<n>a)$'],
    ['changes how letters compare', '^(?i:a)$'],
    ['is not closed', '^[a$'],
    ['has an empty class', 'a[^]'],
    ['has a class of another dialect', '^[[:alpha:]]$'],
    ['has an anchor of another dialect', '\\Aa\\z'],
    ['quotes as another dialect', '\\Qa\\E'],
    ['names a property of Unicode', '^\\p{L}$'],
    ['counts nothing', '^*$'],
    ['counts down', '^a{3,2}$'],
  ])('is refused if it %s: %s', (_what, text) => expect(() => pattern(text)).toThrow(/^pattern must be/));

  it.each([
    ['in itself', `^${'a'.repeat(500)}$`],
    ['by what it multiplies', '^(?:[a-z]{100}){20}$'],
    ['by how often it multiplies', '^(?:(?:(?:a{900}){900}){900}){900}$'],
  ])('is refused if it is too large %s', (_what, text) => expect(() => pattern(text)).toThrow(/^pattern/));

  it('asks for the cost of every text before it looks at it', () => {
    const steps: number[] = [];
    const counted = linearPattern('^[a-z]{20}$', (cost) => steps.push(cost));
    counted.test('a');
    counted.test('a'.repeat(100));
    expect(steps[0]).toBeGreaterThanOrEqual(40);
    expect(steps[1]).toBeGreaterThanOrEqual(2_000);
    const refusing = linearPattern('a', () => {
      throw new Error('no more');
    });
    expect(() => refusing.test('a')).toThrow('no more');
  });
});

describe('The patterns of JSON Schema and the engine', () => {
  const agrees = (text: string, sample: string) =>
    expect([text, sample, pattern(text).test(sample)]).toEqual([
      text,
      sample,
      new RegExp(text, 'u').test(sample),
    ]);

  it.each([
    '^\\s$',
    '^\\S$',
    '^[\\s]$',
    '^[\\S]$',
    '^[^\\s]$',
    '^[^\\S]$',
    '^.$',
    '^\\w$',
    '^\\d$',
    '^[^\\w]$',
  ])('agree on every character of the basic plane: %s', (text) => {
    const engine = pattern(text);
    const judge = new RegExp(text, 'u');
    // All of the basic plane; beyond it is no white space.
    for (let code = 0; code <= 0x10010; code = code === 0xd7ff ? 0xe000 : code + 1) {
      const character = String.fromCodePoint(code);
      if (engine.test(character) !== judge.test(character)) agrees(text, character);
    }
  });

  it('agree on random patterns and texts', () => {
    const atom = fc.constantFrom(
      ...[
        'a',
        'b',
        'é',
        '😀',
        '-',
        '.',
        '\\.',
        '\\-',
        '\\d',
        '\\w',
        '\\W',
        '\\s',
        '[ab]',
        '[^ab]',
        '[a-f0-9-]',
        '[\\w.]',
        '[^\\s]',
        '[$^]',
        '[a-c-e]',
      ],
      ...[
        '^',
        '$',
        '\\b',
        '(?:a|b)',
        '(|ab)',
        '(?:ab?)',
        '((a)|b)',
        'a|b',
        '\\/',
        '\\\\',
        '[\\]\\\\]',
        '[&&]',
        '[a&&b]',
        '[~]',
      ],
    );
    const count = fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{1,}', '{0,2}', '*?');
    const written = fc
      .array(fc.tuple(atom, count), { maxLength: 6 })
      .map((parts) => parts.map(([each, times]) => each + times).join(''));
    const sample = fc.string({ unit: fc.constantFrom(...'ab-é😀. \n\u2028\u00a019_$^&~]\\/'), maxLength: 8 });
    fc.assert(
      fc.property(written, sample, (text, value) => {
        let compiled;
        try {
          compiled = new RegExp(text, 'u');
        } catch {
          expect(() => pattern(text)).toThrow(/^pattern must be/);
          return;
        }
        expect([text, value, pattern(text).test(value)]).toEqual([text, value, compiled.test(value)]);
      }),
      { numRuns: 3_000 },
    );
  });
});
