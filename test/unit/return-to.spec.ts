import fc from 'fast-check';
import { safeReturnTo } from '#platform/http/forms/return-to.js';
import { ANY_CHARACTER } from '../support/any-character.js';

describe('a return_to', () => {
  it.each([
    ['missing', undefined],
    ['empty', ''],
    ['another origin', 'https://evil.example/'],
    ['another host', '//evil.example/'],
    ['another host behind more slashes', '///evil.example'],
    ['another host behind a backslash', '/\\evil.example/'],
    ['backslashes', '\\\\evil.example/'],
    ['a backslash in a path', '/a\\b?c'],
    ['a tab that browsers drop', '/\t/evil.example'],
    ['a tab before another host', '\t//evil.example'],
    ['a blank before another host', ' //evil.example'],
    ['a line break that browsers drop', '/\n/evil.example'],
    ['a header of its own', '/login\r\nSet-Cookie: a=b'],
    ['a path that becomes another host', '/.//evil.example'],
    ['a path that climbs to another host', '/a/..//evil.example'],
    ['a path that climbs above the root', '/..//evil.example'],
    ['encoded dots that climb to another host', '/x/%2e%2e//evil.example'],
    ['an encoded dot that becomes another host', '/%2e//evil.example'],
    ['a scheme without slashes', 'https:evil.example'],
    ['a scheme with a backslash', 'http:/\\evil.example'],
    ['a script', 'javascript:alert(1)'],
    ['data', 'data:text/html,x'],
    ['the end of a host', '.evil.example'],
    ['a host after a name', '@evil.example'],
    ['a port and a host after a name', ':80@evil.example'],
    ['a query by itself', '?x=//evil.example'],
    ['a fragment by itself', '#x'],
    ['without a leading slash', 'account'],
    ['preceded by a blank', ' /account'],
    ['NUL', '/a\0b'],
    ['half of a surrogate pair', '/a\ud800'],
    ['very long', `/${'x'.repeat(20_000)}`],
    ['very long after encoding', `/${'é'.repeat(5_000)}`],
  ])('is ignored if it is %s', (_name, value) => expect(safeReturnTo(value)).toBeUndefined());

  it.each(
    Object.entries({
      '/': '/',
      '/account': '/account',
      '/o/authorize/?client_id=a&state=%2F%2Fevil.example':
        '/o/authorize/?client_id=a&state=%2F%2Fevil.example',
      '/o/authorize?redirect_uri=https://app.example/': '/o/authorize?redirect_uri=https://app.example/',
      '/o/authorize/?state=a\\b&scope=c': '/o/authorize/?state=a%5Cb&scope=c',
      '/a/../b': '/b',
      '/account#part': '/account',
      '/%2f%2fevil.example': '/%2f%2fevil.example',
      '/%5cevil.example': '/%5cevil.example',
      '/v2/?x=%26&y=//evil.example': '/v2/?x=%26&y=//evil.example',
      '/caf\u00e9': '/caf%C3%A9',
    }),
  )('leads to %s', (value, expected) => expect(safeReturnTo(value)).toBe(expected));

  it('never leaves the service, whatever the request', () => {
    const pieces = fc.constantFrom(
      '/',
      '\\',
      '.',
      '..',
      '%2f',
      '%5c',
      '%2e',
      '@',
      ':',
      '?',
      '#',
      '\t',
      'evil.example',
      'http:',
      'a',
      '%',
      '\u2028',
      '\ufeff',
    );
    const text = fc.oneof(
      fc.array(pieces, { maxLength: 8 }).map((parts) => `/${parts.join('')}`),
      fc.string({ unit: ANY_CHARACTER }).map((rest) => `/${rest}`),
      fc.string({ unit: ANY_CHARACTER }),
    );
    fc.assert(
      fc.property(text, (value) => {
        const safe = safeReturnTo(value);
        if (safe === undefined) return true;
        const url = new URL(safe, 'https://auth.example/login');
        const printable = /^\/(?![/\\])[\x21-\x7e]*$/.test(safe);
        return printable && url.origin === 'https://auth.example' && safeReturnTo(safe) === safe;
      }),
      { numRuns: 3000 },
    );
  });
});
