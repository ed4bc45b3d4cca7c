import { text } from '../api/api-schemas.js';
import { PathParam } from '../api/api-answers.js';
import { validationFailed } from '../problems/problem.js';
import { violation, type Violation, type Violations } from '../problems/violation.js';

/** The form of names in a catalogue. */
export interface NameRule {
  pattern: RegExp;
  /** The same in words. */
  characters: string;
  example: string;
  /** A name that the service uses itself. */
  reserved?: string;
}

export const nameSchema = ({ pattern, example }: NameRule) =>
  text(undefined, { pattern: pattern.source, example });

/** The parameter `name` of a path. */
export const PathName = (rule: NameRule): ParameterDecorator => PathParam('name', nameSchema(rule));

/** What is wrong with a name; undefined if nothing is. */
export function nameViolation(
  { pattern, characters, reserved }: NameRule,
  name: string,
): Violation | undefined {
  if (!pattern.test(name)) return violation('name', { characters });
  return name === reserved ? violation('reserved_name', { reserved }) : undefined;
}

/** The same as the member `name`. */
export function nameViolations(rule: NameRule, name: string): Violations {
  const found = nameViolation(rule, name);
  return found ? { name: [found] } : {};
}

/** Throws a 400 problem with `field_errors`. */
export function requireName(rule: NameRule, name: string): void {
  const violations = nameViolations(rule, name);
  if (violations.name) throw validationFailed(violations);
}
