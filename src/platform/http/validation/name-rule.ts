import { text } from '../api/api-schemas.js';
import { PathParam } from '../api/api-answers.js';
import { validationFailed } from '../problems/problem.js';
import { violation, type Violations } from '../problems/violation.js';

/** The form of names in a catalogue. */
export interface NameRule {
  pattern: RegExp;
  /** The same in words. */
  characters: string;
  example: string;
}

export const nameSchema = ({ pattern, example }: NameRule) =>
  text(undefined, { pattern: pattern.source, example });

/** The parameter `name` of a path. */
export const PathName = (rule: NameRule): ParameterDecorator => PathParam('name', nameSchema(rule));

/** What is wrong with a name, as the member `name`. */
export const nameViolations = ({ pattern, characters }: NameRule, name: string): Violations =>
  pattern.test(name) ? {} : { name: [violation('name', { characters })] };

/** Throws a 400 problem with `field_errors`. */
export function requireName(rule: NameRule, name: string): void {
  const violations = nameViolations(rule, name);
  if (violations.name) throw validationFailed(violations);
}
