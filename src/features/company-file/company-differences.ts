import { isDeepStrictEqual } from 'node:util';
import type { Entry } from './company-sections.js';

/** What happens to one thing: it is created, changed or removed. */
export interface Change {
  sign: '+' | '~' | '-';
  /** What it is called, such as `scope vehicle:read`. */
  what: string;
  lines: string[];
}

const LONGEST = 160;

const shown = (value: unknown): string => {
  const text = JSON.stringify(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text;
};

const isObject = (value: unknown): value is Entry => typeof value === 'object' && value !== null;

/** Whether the parts differ one by one: lists of plain values are shown as a whole. */
const hasParts = (value: unknown): value is Entry =>
  isObject(value) && (!Array.isArray(value) || value.some(isObject));

/** Field by field what differs: `redirect_uris: before → after`. Undefined: it is not there. */
export function differences(before: unknown, after: unknown, name = ''): string[] {
  if (isDeepStrictEqual(before, after)) return [];
  if ((hasParts(before) || before === undefined) && hasParts(after) && Object.keys(after).length > 0) {
    const members = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after)])];
    return members.flatMap((member) =>
      differences(
        before?.[member],
        after[member],
        Array.isArray(after) ? `${name}[${member}]` : dotted(name, member),
      ),
    );
  }
  if (before === undefined) return [`${name}: ${shown(after)}`];
  if (after === undefined) return [`${name}: ${shown(before)} → left out`];
  return [`${name}: ${shown(before)} → ${shown(after)}`];
}

const dotted = (name: string, member: string): string => (name === '' ? member : `${name}.${member}`);

const COUNTED = [
  ['+', 'create'],
  ['~', 'change'],
  ['-', 'remove'],
] as const;

/** The changes for a person to read, with a sum. */
export function textOf(changes: readonly Change[], { dryRun }: { dryRun: boolean }): string {
  if (changes.length === 0) return dryRun ? 'Nothing would change.\n' : 'Nothing changed.\n';
  const sum = COUNTED.map(([sign, verb]) => {
    const count = changes.filter((change) => change.sign === sign).length;
    return dryRun ? `${verb} ${count}` : `${count} ${verb}d`;
  }).join(', ');
  return [
    ...changes.flatMap(({ sign, what, lines }) => [`${sign} ${what}`, ...lines.map((line) => `    ${line}`)]),
    '',
    dryRun ? `Would ${sum}.` : `Done: ${sum}.`,
    '',
  ].join('\n');
}
