import type { Type } from '@nestjs/common';
import { Problem, validationFailed } from '#platform/http/problems/problem.js';
import { RequestValidationPipe } from '#platform/http/validation/validation.pipe.js';
import { fieldErrorText } from '#platform/http/problems/field-error-text.js';
import type { FieldErrors } from '#platform/web/forms/field.js';
import type { Violations } from '#platform/http/problems/violation.js';

export type Attempt<T> = { result: T; errors?: undefined } | { result?: undefined; errors: FieldErrors };

const pipe = new RequestValidationPipe();

/** Validates the form values by the rules of the admin API's DTO. */
export const formValue = async <T extends object>(
  dto: Type<T>,
  members: Record<string, unknown>,
): Promise<T> => (await pipe.transform(members, { type: 'body', metatype: dto })) as T;

/** The same, but returns violations, so that they can be thrown together with those of other checks. */
export async function judged<T extends object>(
  dto: Type<T>,
  members: Record<string, unknown>,
): Promise<{ value?: T; violations?: Violations }> {
  try {
    return { value: await formValue(dto, members) };
  } catch (error) {
    if (!(error instanceof Problem) || !error.extras.violations) throw error;
    return { violations: error.extras.violations };
  }
}

/** Runs the action of a form; returns input errors of the services, to be shown at the fields. */
export async function attempt<T>(work: () => Promise<T>): Promise<Attempt<T>> {
  try {
    return { result: await work() };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { violations } = error.extras;
    if (error.status === 400 && violations) return { errors: atFields(fieldErrorText(violations)) };
    if (error.status === 409 || error.status === 400) return { errors: { form: [error.detail] } };
    throw error;
  }
}

/** Errors in the parts of a list, such as `filters.0.path`, at the field of the list. */
function atFields(errors: Record<string, string[]>): FieldErrors {
  const byField: Record<string, string[]> = {};
  for (const [name, texts] of Object.entries(errors)) {
    const [, field = name, place, part] = /^(\w+)\.(\d+)\.(\w+)$/.exec(name) ?? [];
    const said = part === undefined ? texts : texts.map((text) => `${part} ${Number(place) + 1}: ${text}`);
    byField[field] = [...(byField[field] ?? []), ...said];
  }
  return byField;
}

/** Throws all errors found by several checks at once; for each field, the first one. */
export function refuseTogether(...found: (Violations | undefined)[]): void {
  const violations = Object.assign({}, ...found.reverse()) as Violations;
  if (Object.keys(violations).length > 0) throw validationFailed(violations);
}
