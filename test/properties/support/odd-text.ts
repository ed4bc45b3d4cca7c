import fc from 'fast-check';
import { ANY_CHARACTER } from '../../support/any-character.js';
import { listOf } from '../../support/list-of.js';

/** Markup that no page may contain unescaped. */
export const CANARY = '<zq7 a="';

const FAMILIAR = [
  ...['', ' ', '\t', '\r\n', '0', '-1', '-0', '1.5', '1e309', '9'.repeat(400), '٣', '²', 'NaN', 'Infinity'],
  ...['null', 'undefined', 'true', 'false', '[object Object]', '[]', '{}', '__proto__', 'constructor'],
  ...['toString', 'hasOwnProperty', 'prototype', 'length', '.', '..', '../..', '/', '\\', '//x.example', '*'],
  ...[
    '%',
    '%00',
    '%zz',
    '%c3%28',
    "'",
    '"',
    '`',
    "' OR 1=1 --",
    '$1',
    '%s%n',
    '${x}',
    '{{x}}',
    '(?:',
    '\\u0000',
  ],
  ...[CANARY, `'>${CANARY}`, '<!--', ']]>', '&lt;', 'javascript:alert(1)', 'a\r\nSet-Cookie: b=c'],
  ...[
    '\0',
    'a\0b',
    '\ud800',
    'a\udc00',
    '\ufffd',
    '\ufeff',
    '\u202e',
    '\u2028',
    '\u00a0',
    '\u200b',
    '\u{e0001}',
  ],
  ...['İ', 'ß', 'ſ', 'K', 'ﬁ', 'Σ', 'é', 'e\u0301', '💥', '👩‍👩‍👧', '\u0344', 'x'.repeat(300), 'é'.repeat(5000)],
  ...['2026-02-30', '2026-13-01T00:00:00Z', '0000-01-01', '9999-12-31T23:59:59Z', '+275760-09-13T00:00:00Z'],
  ...['1969-12-31T23:59', '2026-01-31T08:00:60Z', '2026-01-31T08:00:00+14:00', '-000001-01-01T00:00:00Z'],
  ...[
    'http://127.0.0.1:1/',
    'https://[::1]/',
    'https://x.example:99999/',
    'com.example.app:/x',
    'mailto:a@b',
  ],
  ...[
    'a@b',
    'a@mail.example',
    '"a b"@mail.example',
    'ä@mail.example',
    '@',
    'user',
    'clnt',
    'cds_at_',
    'whsec_',
  ],
  ...['user00000000000000000000000000', 'user7ZZZZZZZZZZZZZZZZZZZZZZZZZ', 'user8ZZZZZZZZZZZZZZZZZZZZZZZZZ'],
];

const ODD_TEXT = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...FAMILIAR) },
  { weight: 1, arbitrary: fc.string({ maxLength: 60 }) },
  { weight: 1, arbitrary: fc.string({ unit: ANY_CHARACTER, maxLength: 60 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 60 }) },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom(...FAMILIAR), fc.string()).map(([a, b]) => a + b) },
);

/** Text that nobody would intend: inputs that have broken other programs, and anything else. */
export const oddText = (): fc.Arbitrary<string> => ODD_TEXT;

/** What the value of a header can contain: Latin-1 without control characters, at most 2,000 of them. */
export const headerText = (): fc.Arbitrary<string> =>
  oddText().map((text) => text.replace(/[^\t\x20-\x7e\x80-\xff]/g, '').slice(0, 2000));

/** A piece of a path or a query string, encoded or not, without blanks and without the characters that end it. */
export const urlText = (): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 3, arbitrary: oddText().map((text) => percentEncoded(text).slice(0, 3000)) },
    { weight: 1, arbitrary: oddText().map((text) => text.replace(/[^\x21-\xff]|[?#]/g, '').slice(0, 3000)) },
    { weight: 1, arbitrary: fc.constantFrom(...BROKEN) },
  );

const BROKEN = listOf('%, %0, %zz, %00, %2f, %2F..%2f, %5c, %ed%a0%80, %c0%80, %c3, %ff, %2e%2e, %0d%0a');

/** Percent-encoded UTF-8. An unpaired surrogate, which has no UTF-8, becomes the bytes that it would have. */
export const percentEncoded = (text: string): string =>
  Array.from(text, (each) => (each.isWellFormed() ? encodeURIComponent(each) : '%ed%a0%80')).join('');
