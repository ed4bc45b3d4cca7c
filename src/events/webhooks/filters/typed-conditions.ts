import { isDeepStrictEqual } from 'node:util';
import type { Form } from '#platform/http/forms/form.js';
import type { FieldErrors, FieldValues } from '#platform/web/forms/field.js';
import { apiWords, type Violations } from '#platform/http/problems/violation.js';
import { CONDITIONS_MAX, written, type Condition, type Operator, type Scalar } from './condition.js';
import type { EventMembers, Kind } from './event-members.js';

/** How many empty rows a form offers beside those that are filled in. */
const EMPTY_ROWS = 2;
const NUMBER = /^-?(?:0|[1-9]\d{0,20})(?:\.\d{1,20})?$/;

export const rowField = (place: number, member: keyof Condition): string => `filters.${place}.${member}`;
const filled = (conditions: readonly Condition[]): number =>
  Math.min(conditions.length + EMPTY_ROWS, CONDITIONS_MAX);
/** The places of the rows that a form shows. */
export const rowsFor = (conditions: readonly Condition[]): number[] =>
  Array.from({ length: filled(conditions) }, (_, place) => place);

/** The conditions in the rows of a form; what is typed as a value becomes what the member is. Empty rows are left out. */
export function conditionsIn(form: Form, members: EventMembers): Condition[] {
  return Array.from({ length: CONDITIONS_MAX }, (_, place) => place).flatMap((place) => {
    const [path, operator, typed = ''] = (['path', 'operator', 'value'] as const).map((member) =>
      form.get(rowField(place, member)),
    );
    if (path === undefined) return [];
    const as = operator as Operator;
    return [written({ path, operator: as, value: valueIn(typed, as, members.get(path)) })];
  });
}

/** What the fields of the rows show. */
export const rowValues = (conditions: readonly Condition[], members: EventMembers): FieldValues =>
  Object.fromEntries(
    conditions.flatMap(({ path, operator, value }, place) => [
      [rowField(place, 'path'), path],
      [rowField(place, 'operator'), operator],
      [rowField(place, 'value'), shown(value, operator, members.get(path))],
    ]),
  );

/** The errors of the rows, at their fields. */
export const rowErrors = (violations: Violations): FieldErrors =>
  Object.fromEntries(
    Object.entries(violations)
      .filter(([name]) => name.startsWith('filters'))
      .map(([name, each]) => [name, each.map(apiWords)]),
  );

/** As it is typed; as JSON if that would be read as something else. */
function shown(value: Condition['value'], operator: Operator, kinds: ReadonlySet<Kind> | undefined): string {
  const plain = [value].flat().map(String).join(', ');
  return isDeepStrictEqual(valueIn(plain, operator, kinds), value) ? plain : JSON.stringify(value);
}

function valueIn(
  typed: string,
  operator: Operator,
  kinds: ReadonlySet<Kind> = new Set(),
): Condition['value'] {
  const text = typed.trim();
  if (/^["[]/.test(text)) {
    const read = jsonIn(text);
    if (read !== undefined) return read;
  }
  if (operator === 'exists') return text === '' || text === 'true' ? true : text === 'false' ? false : text;
  if (operator !== 'in') return scalarIn(text, kinds);
  return text.split(',').map((each) => scalarIn(each.trim(), kinds));
}

function scalarIn(text: string, kinds: ReadonlySet<Kind>): Scalar {
  const may = (kind: Kind): boolean => kinds.has(kind) || kinds.has('any');
  if (text === 'null' && may('null')) return null;
  if ((text === 'true' || text === 'false') && may('boolean')) return text === 'true';
  return NUMBER.test(text) && may('number') ? Number(text) : text;
}

function jsonIn(text: string): Condition['value'] | undefined {
  try {
    const read = JSON.parse(text) as unknown;
    const isPlain = [read].flat().every((each) => typeof each !== 'object' || each === null);
    return isPlain ? (read as Condition['value']) : undefined;
  } catch {
    return undefined;
  }
}
