import type { Form } from '#platform/http/forms/form.js';
import { asShownIn, shownValues } from '#platform/http/resources/shown-values.js';

/** What was typed as JSON; other text stays text, which no rule for an object accepts. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** What the fields of a form say, by their names. */
export type Texts = Readonly<Record<string, string>>;

/** The hidden field of a form that shows these texts. */
export const textsShown = (texts: Texts): Record<string, string> =>
  shownValues(Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, asLines(text)])));

/**
 * What a field of a form says: what was typed, but the present text, if there is one, in a field that was not changed, because someone
 * else may have saved it since the form was shown. Throws a 400 problem for a form that should have shown the present texts and does not say so.
 */
export function textsIn(form: Form, present?: Texts): (name: string) => string {
  const typedIn = (name: string) => form.get(name) ?? '';
  if (!present) return typedIn;
  const isAsShown = asShownIn(form);
  return (name) => {
    const typed = typedIn(name);
    const text = present[name];
    return text !== undefined && isAsShown(name, asLines(typed)) ? text : typed;
  };
}

/** Browsers send line breaks in a way of their own. */
const asLines = (text: string): string => text.replace(/\r\n?/g, '\n');
