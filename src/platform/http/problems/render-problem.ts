import type { Language } from '#platform/language/languages.js';
import { isTranslated, shownText } from '#platform/language/text.js';
import { inLanguage } from '../server/request-language.js';
import type { Problem } from './problem.js';
import { apiWordsOf } from './violation.js';
import type { Rendered } from '../server/route-options.js';

/** The `type` URL of a problem type, with its trailing slash. */
export const problemTypeUrl = (baseUrl: string, slug: string): string => `${baseUrl}/v2/problems/${slug}/`;

/** The detail and what is wrong with each member in one text, for pages without fields to show that at. */
export const detailWithReasons = ({ detail, extras: { violations = {} } }: Problem): string => {
  const reasons = Object.entries(apiWordsOf(violations)).map(
    ([name, texts]) => `${name} ${texts.join(', ')}.`,
  );
  return [detail, ...reasons].join(' ');
};

/**
 * A problem as application/problem+json (RFC 9457, contract §1). `language`: that the program asks for, if it asks for one; what is about
 * members of the request stays in English.
 */
export function renderProblem(problem: Problem, baseUrl: string, language?: Language): Rendered {
  const { violations, instance, notification, said = problem.detail } = problem.extras;
  const isWhole = !violations && isTranslated(said);
  const body = {
    type: problem.slug ? problemTypeUrl(baseUrl, problem.slug) : undefined,
    status: problem.status,
    title: shownText(language ?? 'en', problem.title),
    detail:
      language === undefined || language === 'en'
        ? problem.detail
        : shownText(language, isTranslated(said) ? said : problem.detail),
    instance,
    notification: notification?.(language ?? 'en'),
    field_errors: violations && apiWordsOf(violations),
  };
  return {
    headers: {
      'content-type': 'application/problem+json; charset=utf-8',
      ...(language && inLanguage(language, isWhole)),
    },
    body: JSON.stringify(body),
  };
}
