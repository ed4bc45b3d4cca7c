import type { Condition, Operator, Scalar } from './condition.js';

type Predicate = (member: string, value: string) => string;

const compared =
  (sign: string): Predicate =>
  (member, value) =>
    `${member} ${sign} ${value}`;

/** A list holds a condition if one of its members does; so `not_equals` is what `equals` is not, but not for what is missing. */
const PREDICATES: Record<Exclude<Operator, 'in'>, Predicate> = {
  equals: compared('=='),
  // Values of different kinds cannot be compared, which is "unknown".
  not_equals: (member, value) =>
    `exists(${member}) && (!(${member} == ${value}) || (${member} == ${value}) is unknown)`,
  greater: compared('>'),
  at_least: compared('>='),
  less: compared('<'),
  at_most: compared('<='),
  exists: (member, value) => (value === 'true' ? `exists(${member})` : `!exists(${member})`),
  starts_with: compared('starts with'),
};

// Every string and number of JSON is one of jsonpath, too: nothing that was typed stands outside of quotes.
const literal = (value: Scalar): string => JSON.stringify(value);

/** The condition as a predicate of jsonpath. It is not true if what it compares is missing, or of another kind. */
export function pathOf({ path, operator, value }: Condition): string {
  const member = ['$', ...path.split('.').map(literal)].join('.');
  if (operator !== 'in') return PREDICATES[operator](member, literal(value as Scalar));
  return (value as Scalar[]).map((each) => `(${member} == ${literal(each)})`).join(' || ');
}

/** What PostgreSQL judges events by (`payload::jsonb @@ filter`); null if all are sent. */
export const filterOf = (conditions: readonly Condition[]): string | null =>
  conditions.length === 0 ? null : conditions.map((each) => `(${pathOf(each)})`).join(' && ');

/** Whether an endpoint (`e`) is sent an event with this payload. Of one without a filter nothing is parsed. */
export const passesFilter = (payload: string): string =>
  `(e.filter IS NULL OR ${payload}::jsonb @@ e.filter)`;
