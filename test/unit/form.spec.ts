import fc from 'fast-check';
import { Form, isUnsafeText, queryStringOf } from '#platform/http/forms/form.js';
import { Problem } from '#platform/http/problems/problem.js';
import { ANY_CHARACTER } from '../support/any-character.js';

/** Returns the form, or the problem that the parser threw; any other error fails the test. */
function parse(source: string): Form | Problem {
  try {
    return Form.parse(source);
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

describe('a form', () => {
  it.each([
    ['a lone percent sign', 'a=%'],
    ['letters that are not hexadecimal', 'a=%zz'],
    ['half of a sequence', 'a=%c3'],
    ['a sequence that is not UTF-8', 'a=%c3%28'],
    ['an overlong sequence', 'a=%c0%80'],
    ['half of a surrogate pair', 'a=%ed%a0%80'],
    ['an unencoded half of a surrogate pair', 'a=\ud800'],
    ['NUL', 'a=%00'],
    ['an unencoded NUL', 'a=\0'],
    ['NUL in a name', 'a%00=b'],
    ['a broken name', '%=b'],
    ['more than 128 parameters', Array.from({ length: 129 }, (_, n) => `p${n}`).join('&')],
    ['one parameter 129 times', 'a&'.repeat(129)],
  ])('is refused if it contains %s', (_name, source) => {
    const result = parse(source);
    expect(result).toBeInstanceOf(Problem);
    expect(result).toMatchObject({ status: 400, detail: expect.stringMatching(/\w+ \w+ \w+/) });
  });

  it('never makes the parser throw anything but a problem, which does not repeat the input', () => {
    const text = fc.oneof(
      fc.string({ unit: ANY_CHARACTER }),
      fc.string({ unit: fc.constantFrom(...'%&=+a0fFcC\0\ud800') }),
    );
    fc.assert(
      fc.property(text, (source) => {
        const result = parse(source);
        return result instanceof Form || (result.status === 400 && !result.detail.includes('%'));
      }),
      { numRuns: 1000 },
    );
  });

  it('contains only text that can be stored', () => {
    const text = fc.string({
      unit: fc.constantFrom('%00', '%ed', '%a0', '%80', '%c3', '%a9', 'a', '=', '\0', '+'),
    });
    fc.assert(
      fc.property(text, (value) => {
        const result = parse(`a=${value}`);
        return result instanceof Problem || !isUnsafeText(result.get('a') ?? '');
      }),
      { numRuns: 1000 },
    );
  });

  it('survives encoding and parsing, whatever it contains', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1 }).filter((value) => !isUnsafeText(value));
    const pairs = fc.uniqueArray(fc.tuple(text, text), { selector: ([name]) => name, maxLength: 100 });
    fc.assert(
      fc.property(pairs, (given) => {
        const form = Form.parse(new URLSearchParams(given).toString());
        return given.every(([name, value]) => form.get(name) === value && !form.isRepeated(name));
      }),
    );
  });

  it('may have 100 parameters, turns plus signs into blanks, and keeps its source unchanged', () => {
    const source = Array.from({ length: 100 }, (_, n) => `p${n}=a+b%2B`).join('&');
    expect(Form.parse(source).get('p99')).toBe('a b+');
    expect(Form.parse(source).source).toBe(source);
  });

  it('treats an empty parameter as missing, but still detects repetition', () => {
    const form = Form.parse('a=&b&&=c&a=x&d=1&d=1&e==');
    expect([form.get('a'), form.get('b'), form.get('z'), form.get('e')]).toEqual([
      undefined,
      undefined,
      undefined,
      '=',
    ]);
    expect(form.isRepeated('a')).toBe(true);
    expect(form.isRepeated('d')).toBe(true);
    expect(form.isRepeated('b')).toBe(false);
    expect(Form.parse('').isEmpty).toBe(true);
    expect(Form.parse('&&').isEmpty).toBe(true);
    expect(form.isEmpty).toBe(false);
  });

  it('has no names except those that were sent', () => {
    const form = Form.parse('a=b');
    for (const name of ['constructor', '__proto__', 'toString', 'length'])
      expect(form.get(name)).toBeUndefined();
    expect(Form.parse('__proto__=x&constructor=y').get('__proto__')).toBe('x');
  });

  it('is read from the query after the first question mark of a URL', () => {
    expect(queryStringOf('/o/token')).toBe('');
    expect(queryStringOf('/o/token?')).toBe('');
    expect(queryStringOf('/a?b=c?d')).toBe('b=c?d');
  });
});
