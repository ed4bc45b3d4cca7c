import type { Page } from './browser-session.js';

/** Terms and phrases of the API, which people should not see. */
export const API_WORDS =
  /\b(null|member|members|list of|must be (one of|the id|a string|a list)|whitelist)\b|[a-z]_[a-z]/i;

/** The error messages beside the fields of a page's forms, by the ids of the fields. */
export const errorsIn = (page: Page): Record<string, string> =>
  Object.fromEntries(
    page.html
      .querySelectorAll('.field-error[id]')
      .map((each) => [each.getAttribute('id')!.replace(/-error$/, ''), each.text]),
  );

/** Expects an error beside exactly these fields, each as a sentence without terms of the API. */
export function expectPlainErrors(page: Page, fields: string[]): void {
  const said = errorsIn(page);
  expect([page.status, Object.keys(said).sort()]).toEqual([400, [...fields].sort()]);
  for (const [field, text] of Object.entries(said)) {
    expect([field, text]).toEqual([field, expect.not.stringMatching(API_WORDS)]);
    expect([field, text]).toEqual([field, expect.stringMatching(/^\p{Lu}.*[^.]\.$/u)]);
  }
}
