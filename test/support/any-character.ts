import fc from 'fast-check';

const SURROGATES = 0x800;

/**
 * Any character of Unicode, as `unit` of a text. fast-check's own `binary` is the same, but first makes a table of all characters, which takes a second and
 * a lot of memory.
 */
export const ANY_CHARACTER = fc
  .integer({ min: 0, max: 0x10ffff - SURROGATES })
  .map((n) => String.fromCodePoint(n < 0xd800 ? n : n + SURROGATES));
