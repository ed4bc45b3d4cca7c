import { apiWords } from '#platform/http/problems/violation.js';
import { illegible, legible } from '#platform/http/validation/legible-text.js';
import { listOf } from '../support/list-of.js';

describe('a text for people', () => {
  it.each([
    ['with a direction override', 'gnp\u202eexe.txt', 'U+202E'],
    ['with a direction isolate', 'a\u2066b', 'U+2066'],
    ['with a mark of direction', 'a\u200fb', 'U+200F'],
    ['with an Arabic mark of direction', 'a\u061cb', 'U+061C'],
    ['with a control character', 'a\u0007b', 'U+0007'],
    ['with an escape for terminals', '\u001b[31mred', 'U+001B'],
    ['with a C1 control character', 'a\u0085b', 'U+0085'],
    ['with a line break', 'a\nb', 'U+000A'],
    ['with a line separator', 'a\u2028b', 'U+2028'],
    ['with a paragraph separator', 'a\u2029b', 'U+2029'],
    ['with a zero-width space', 'North\u200bwind', 'U+200B'],
    ['with a byte order mark', '\ufeffNorthwind', 'U+FEFF'],
    ['with a soft hyphen', 'North\u00adwind', 'U+00AD'],
    ['with a joiner between Latin letters', 'North\u200dwind', 'U+200D'],
    ['with a joiner at its end', 'Northwind\u200c', 'U+200C'],
    ['with a non-joiner before a blank', '\u0646\u200c x', 'U+200C'],
    ['with a variation selector after a Latin letter', 'N\ufe0forthwind', 'U+FE0F'],
    ['with a filler that looks like a blank', 'a\u3164b', 'U+3164'],
    ['with invisible tags', 'a\u{e0041}', 'U+E0041'],
  ])('is refused %s, and the error names the character', (_what, text, name) => {
    expect(apiWords(illegible(text)!)).toBe(
      `must not contain control, bidirectional or invisible characters, such as ${name}`,
    );
    expect(legible(text)).toBe(legible(legible(text)));
    expect(legible(text)).toContain(`[${name}]`);
    expect(illegible(legible(text))).toBeUndefined();
  });

  it.each(
    listOf(`
    Northwind GmbH & Co. KG, Zoë Müller-Łukasz, Ελληνικά Русский, تطبيق الشحن, אפליקציית טעינה, نمی‌خواهم,
    क्‍ष, 充電アプリ, Family 👩‍👩‍👧 ❤️ 1️⃣, 🏴󠁧󠁢󠁥󠁮󠁧󠁿, '; DROP TABLE users; --, <b>
  `),
  )('is accepted unchanged: %s', (text) => {
    expect(illegible(text)).toBeUndefined();
    expect(legible(text)).toBe(text);
  });

  it('may contain line breaks and tabs if it may have several lines, but no other control characters', () => {
    expect(illegible('one\r\n\ttwo\n', { lines: true })).toBeUndefined();
    expect(illegible('one\u2028two', { lines: true })?.params).toEqual({ character: 'U+2028' });
    expect(illegible('one\u000btwo', { lines: true })?.params).toEqual({ character: 'U+000B' });
  });
});
