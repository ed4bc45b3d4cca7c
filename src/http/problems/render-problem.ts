import type { Problem } from './problem.js';
import { apiWordsOf } from './violation.js';
import type { Rendered } from '../server/route-options.js';

/** The `type` URL of a problem type, with its trailing slash. */
export const problemTypeUrl = (baseUrl: string, slug: string): string => `${baseUrl}/v2/problems/${slug}/`;

/** A problem as application/problem+json (RFC 9457, contract §1). */
export function renderProblem(problem: Problem, baseUrl: string): Rendered {
  const { violations, instance, notification } = problem.extras;
  const body = {
    type: problem.slug ? problemTypeUrl(baseUrl, problem.slug) : undefined,
    status: problem.status,
    title: problem.title,
    detail: problem.detail,
    instance,
    notification,
    field_errors: violations && apiWordsOf(violations),
  };
  return {
    headers: { 'content-type': 'application/problem+json; charset=utf-8' },
    body: JSON.stringify(body),
  };
}
