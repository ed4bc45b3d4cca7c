import { RE2JS } from 're2js';

const PATTERN_MAX = 500;
/** The most instructions of a pattern, which is what each character of a text costs. */
const SIZE_MAX = 1_000;
/** What matching any text costs apart from its characters. */
const START = 50;

// ECMAScript's white space. RE2's \s is ASCII only, and without \v.
const SPACE = String.raw`\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`;
const NOT_SPACE = String.raw`\x00-\x08\x0e-\x1f!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`;

const ESCAPE = String.raw`\\[dDwWsS]|\\[^A-Za-z0-9]`;
const CLASS = String.raw`\[(?!\^?\])\^?(?:${ESCAPE}|[^\\[\]])+\]`;
const COUNT = String.raw`(?:[*+?]|\{\d{1,3}(?:,\d{0,3})?\})\??`;
/** What ECMAScript and RE2 both read, in the same way once it is translated. */
const PART = String.raw`${ESCAPE}|\\[bB]|${CLASS}|\((?:\?:|(?!\?))|[)|^$.]|${COUNT}|[^\\[\](){}*+?|^$.]`;
const WHOLE = new RegExp(`^(?:${PART})*$`, 'u');
const PARTS = new RegExp(PART, 'gu');

const REFUSED = `must be a regular expression of at most ${PATTERN_MAX} characters, made of characters, classes, groups, alternatives, anchors and counts: look-arounds, back-references, names and flags of groups, and \\p are not accepted`;
const TOO_LARGE = `is too large: its counts multiply to more than ${SIZE_MAX} steps for each character`;

/** A pattern as the compiler of schemas uses it. */
export interface LinearPattern {
  test(text: string): boolean;
  toString(): string;
  /** Instructions of the engine. */
  size: number;
}

/**
 * A pattern of a schema (ECMAScript), matched by RE2's engine in time that grows with the text only. `spend` is told the cost of each
 * text before it is looked at, and may throw. Throws for a pattern that the engine cannot match, or that is too large.
 */
export function linearPattern(pattern: string, spend: (steps: number) => void): LinearPattern {
  const engine = compiled(pattern);
  const size = engine.programSize();
  if (size > SIZE_MAX) throw new Error(`pattern ${TOO_LARGE}`);
  return {
    test: (text) => {
      spend(START + (text.length + 1) * size);
      // Not `engine.test`: its automaton keeps what it has seen in memory.
      return engine.matcher(text).find();
    },
    toString: () => pattern,
    size,
  };
}

function compiled(pattern: string): RE2JS {
  if (pattern.length > PATTERN_MAX || !WHOLE.test(pattern)) throw new Error(`pattern ${REFUSED}`);
  try {
    // ECMAScript decides what is a pattern, RE2 what can be matched in linear time.
    new RegExp(pattern, 'u');
    return RE2JS.compile(pattern.replace(PARTS, translated));
  } catch (error) {
    if (/invalid repeat count|expression too large/.test((error as Error).message))
      throw new Error(`pattern ${TOO_LARGE}`, { cause: error });
    throw new Error(`pattern ${REFUSED}`, { cause: error });
  }
}

function translated(part: string): string {
  if (part === '.') return String.raw`[^\n\r\x{2028}\x{2029}]`;
  if (part === '\\s') return `[${SPACE}]`;
  if (part === '\\S') return `[^${SPACE}]`;
  if (!part.startsWith('[')) return part;
  return part.replace(/\\[^]/gu, (escape) => {
    if (escape === '\\s') return SPACE;
    return escape === '\\S' ? NOT_SPACE : escape;
  });
}
