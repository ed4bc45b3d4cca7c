import { violation, type Violation } from '../problems/violation.js';

// Control characters, characters that change the writing direction, line and paragraph separators, and invisible characters: with
// them, names can look alike or read backwards, and a person cannot tell which application is asking.
const HIDDEN = /[\p{Cc}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]/u;
const LINE_BREAKS_AND_TABS = /[\n\r\t]/g;

// Emoji need such characters, and so do many scripts with joiners, but not the scripts that are imitated most often.
const PLAIN = '\\p{sc=Latin}\\p{sc=Greek}\\p{sc=Cyrillic}\\p{Nd}\\p{P}\\s';
const JOINER = new RegExp(`(?<=[^${PLAIN}])[\\u200c\\u200d](?=[^${PLAIN}])`, 'gu');
const VARIATION = /(?<=[^\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\s])[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gu;
const FLAG = /(?<=\u{1f3f4})[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{3,6}\u{e007f}/gu;

const withoutPermitted = (text: string): string =>
  text.replace(FLAG, '').replace(VARIATION, '').replace(JOINER, '');

const nameOf = (character: string): string =>
  `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;

/**
 * What is wrong with a text that people read (contract §1): the first character that hides something; undefined if not found.
 */
export function illegible(text: string, { lines = false } = {}): Violation | undefined {
  const judged = withoutPermitted(lines ? text.replace(LINE_BREAKS_AND_TABS, '') : text);
  const found = HIDDEN.exec(judged)?.[0];
  return found === undefined ? undefined : violation('hidden_character', { character: nameOf(found) });
}

/** A name stored before such characters were refused, with each of them spelled out. */
export const legible = (text: string): string =>
  illegible(text) === undefined
    ? text
    : text.replace(new RegExp(HIDDEN, 'gu'), (each) => `[${nameOf(each)}]`);
