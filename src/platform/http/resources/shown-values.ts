import { createHash } from 'node:crypto';
import type { Form } from '../forms/form.js';
import { badRequest } from '../problems/problem.js';

/** The hidden field with digests of the values that a form shows. */
const SHOWN_FIELD = 'shown';

/** The hidden field of a form that shows these values, by the names of their fields. */
export const shownValues = (values: Readonly<Record<string, unknown>>): Record<string, string> => {
  const digests = Object.entries(values).map(([name, value]) => [name, digestOf(value)]);
  return { [SHOWN_FIELD]: JSON.stringify(Object.fromEntries(digests)) };
};

/** Whether the form has the hidden field: it showed what was saved. */
export const showsSaved = (form: Form): boolean => form.get(SHOWN_FIELD) !== undefined;

/**
 * Says whether a field still has the value that the form showed. Throws a 400 problem without the hidden field: such a form has shown
 * nothing, and would replace what it has not shown.
 */
export function asShownIn(form: Form): (name: string, value: unknown) => boolean {
  const shown = form.get(SHOWN_FIELD);
  if (shown === undefined)
    throw badRequest('The form is incomplete. Go back, reload the page and try again.');
  const digests = digestsIn(shown);
  return (name, value) => digests.get(name) === digestOf(value);
}

const digestOf = (value: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(value) ?? '')
    .digest('base64url')
    .slice(0, 16);

function digestsIn(text: string): ReadonlyMap<string, unknown> {
  try {
    return new Map(Object.entries(JSON.parse(text) as object));
  } catch {
    return new Map();
  }
}
