const PATTERN_MAX = 200;
/** Longer texts match no pattern, so that matching is always quick. */
const TEXT_MAX = 256;
const VARIABLE_PARTS = 3;

const ATOM = String.raw`(?:\\[dDwWsS]|\\[^A-Za-z0-9]|\[\^?(?:\\.|[^\]\\])+\]|\.|[^\\[\](){}*+?|^$.])`;
const COUNT = String.raw`(?:[*+?]|\{\d{1,3}(?:,\d{0,3})?\})`;
const PLAIN = new RegExp(String.raw`^\^(?:${ATOM}${COUNT}?)*\$$`, 'u');
/** Every part of a plain pattern, with its count. */
const PARTS = new RegExp(`${ATOM}(${COUNT})?`, 'gu');
const FIXED = /^\{\d+\}$/;

/** What is wrong with a pattern that is not plain. */
const NOT_PLAIN = `must be ^…$ around characters and character classes, each with a count or none, at most ${VARIABLE_PARTS} of them of varying length, without groups and alternatives, and of at most ${PATTERN_MAX} characters`;

/**
 * A pattern of a schema that no text can keep busy: without groups, alternatives and look-arounds, with few parts of varying
 * length, and for short texts only, backtracking ends soon. Throws for any other.
 */
export function plainPattern(pattern: string): { test(text: string): boolean; toString(): string } {
  if (!isPlain(pattern)) throw new Error(`pattern ${NOT_PLAIN}`);
  const expression = new RegExp(pattern, 'u');
  return {
    test: (text) => text.length <= TEXT_MAX && expression.test(text),
    toString: () => pattern,
  };
}

function isPlain(pattern: string): boolean {
  if (pattern.length > PATTERN_MAX || !PLAIN.test(pattern)) return false;
  const counts = [...pattern.slice(1, -1).matchAll(PARTS)].map(([, count]) => count);
  return counts.filter((count) => count !== undefined && !FIXED.test(count)).length <= VARIABLE_PARTS;
}
