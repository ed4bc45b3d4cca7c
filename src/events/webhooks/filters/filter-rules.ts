import { violation, type Violation, type Violations } from '#platform/http/problems/violation.js';
import { isUnsafeText } from '#platform/http/forms/form.js';
import { isTextOf } from '#platform/http/validation/validation.decorators.js';
import {
  CONDITIONS_MAX,
  FILTERS_MAX,
  OPERATORS,
  VALUE_MAX,
  VALUES_MAX,
  written,
  type Condition,
  type Operator,
} from './condition.js';
import { kindOf, type EventMembers, type Kind } from './event-members.js';

/** What the operators compare that are for one kind only. */
const FOR_KIND: Partial<Record<Operator, Kind>> = {
  greater: 'number',
  at_least: 'number',
  less: 'number',
  at_most: 'number',
  starts_with: 'text',
};
const SCALARS: readonly Kind[] = ['text', 'number', 'boolean', 'null'];
/** How many paths an error names. */
const NAMED_MAX = 40;

/** What is wrong with the conditions, for events with these members; at `filters.0.path` and the like. */
export function filterViolations(conditions: readonly Condition[], members: EventMembers): Violations {
  if (conditions.length > CONDITIONS_MAX) return { filters: [violation('filters', { max: CONDITIONS_MAX })] };
  if (JSON.stringify(conditions).length > FILTERS_MAX) {
    return { filters: [violation('filters_too_long', { max: FILTERS_MAX })] };
  }
  const found: Violations = {};
  for (const [place, condition] of conditions.entries()) {
    const wrong = wrongIn(written(condition), members);
    if (wrong) found[`filters.${place}.${wrong.member}`] = [wrong.why];
  }
  return found;
}

type Wrong = { member: keyof Condition; why: Violation } | undefined;

function wrongIn({ path, operator, value }: Condition, members: EventMembers): Wrong {
  const kinds = members.get(path);
  if (!kinds) {
    const paths = [...members.keys()];
    const more = Math.max(0, paths.length - NAMED_MAX);
    return { member: 'path', why: violation('filter_path', { paths: paths.slice(0, NAMED_MAX), more }) };
  }
  if (!OPERATORS.includes(operator)) {
    return { member: 'operator', why: violation('one_of', { values: OPERATORS }) };
  }
  const may = kinds.has('any') ? SCALARS : [...kinds].filter((kind) => SCALARS.includes(kind));
  const only = FOR_KIND[operator];
  if (operator !== 'exists' && (only ? !may.includes(only) : may.length === 0)) {
    return { member: 'operator', why: violation('filter_operator', { operator, path, kinds: [...kinds] }) };
  }
  const why = wrongValue(operator, value, only ? [only] : may);
  return why && { member: 'value', why };
}

function wrongValue(
  operator: Operator,
  value: Condition['value'],
  may: readonly Kind[],
): Violation | undefined {
  if (operator === 'exists') {
    return value === true || value === false ? undefined : violation('not_true_or_false');
  }
  if (operator === 'in') {
    const isList = Array.isArray(value) && value.length > 0 && value.length <= VALUES_MAX;
    return isList && value.every((each) => fits(each, may))
      ? undefined
      : violation('filter_values', { max: VALUES_MAX, kinds: may });
  }
  const isFit = !Array.isArray(value) && fits(value, may) && (operator !== 'starts_with' || value !== '');
  return isFit ? undefined : violation('filter_value', { kinds: may });
}

const fits = (value: unknown, may: readonly Kind[]): boolean =>
  value !== undefined &&
  may.includes(kindOf(value)) &&
  (typeof value !== 'string' || (isTextOf(value, 0, VALUE_MAX) && !isUnsafeText(value))) &&
  (typeof value !== 'number' || Number.isFinite(value));
