import type { Type } from '@nestjs/common';
import { Problem, validationFailed } from '../../http/problems/problem.js';
import { RequestValidationPipe } from '../../http/validation/validation.pipe.js';
import { formMessages, type FieldErrors } from './form-messages.js';

export type { FieldErrors };

export type Attempt<T> = { done: T; errors?: undefined } | { done?: undefined; errors: FieldErrors };

const pipe = new RequestValidationPipe();

/** Validates the form values by the rules of the admin API's DTO. */
export const formValue = async <T extends object>(
  dto: Type<T>,
  members: Record<string, unknown>,
): Promise<T> => (await pipe.transform(members, { type: 'body', metatype: dto })) as T;

/** Runs the action of a form. Input errors of the services are returned for display beside the fields, worded for a form. */
export async function attempt<T>(work: () => Promise<T>): Promise<Attempt<T>> {
  try {
    return { done: await work() };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { fieldErrors } = error.extras;
    if (error.status === 400 && fieldErrors) return { errors: formMessages(fieldErrors) };
    if (error.status === 409 || error.status === 400) return { errors: { form: [error.detail] } };
    throw error;
  }
}

/** Throws all errors found by several checks at once; for each field, the first one. */
export function refuseTogether(...found: (FieldErrors | undefined)[]): void {
  const errors = Object.assign({}, ...found.reverse()) as FieldErrors;
  if (Object.keys(errors).length > 0) throw validationFailed(errors);
}
