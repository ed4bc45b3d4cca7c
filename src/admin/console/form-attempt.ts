import type { Type } from '@nestjs/common';
import { Problem } from '../../http/problem.js';
import { RequestValidationPipe } from '../../http/validation.pipe.js';

/** What is wrong with which member; under `form`, with the whole. */
export type FieldErrors = Record<string, string[]>;

const pipe = new RequestValidationPipe();

/** What a form says, by the rules of the admin API's DTO. */
export const formValue = async <T extends object>(
  dto: Type<T>,
  members: Record<string, unknown>,
): Promise<T> => (await pipe.transform(members, { type: 'body', metatype: dto })) as T;

/** Does what a form asks for; what the services refuse as the caller's mistake stands beside the fields. */
export async function attempt<T>(
  work: () => Promise<T>,
): Promise<{ done: T; errors?: undefined } | { done?: undefined; errors: FieldErrors }> {
  try {
    return { done: await work() };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { fieldErrors } = error.extras;
    if (error.status === 400 && fieldErrors) return { errors: fieldErrors };
    if (error.status === 409 || error.status === 400) return { errors: { form: [error.detail] } };
    throw error;
  }
}
