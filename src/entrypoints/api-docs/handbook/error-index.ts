import {
  AUTHORIZATION_ERROR_KINDS,
  OAUTH_ERROR_KINDS,
  type OAuthErrorKind,
} from '#platform/http/problems/oauth-error-kinds.js';
import { PROBLEM_KINDS, type ProblemKind } from '#platform/http/problems/problem-kinds.js';

const oauthErrors = (kinds: Record<string, OAuthErrorKind>): string =>
  Object.entries(kinds)
    .map(([code, { cause, whatToDo }]) => `### ${code}\n\n${cause}\n\n**What to do:** ${whatToDo}`)
    .join('\n\n');

const problems = (kinds: Record<string, ProblemKind>): string =>
  Object.entries(kinds)
    .map(
      ([slug, { status, title, explanation, whatToDo }]) =>
        `### ${status} ${slug}\n\n${title}: ${explanation}\n\n**What to do:** ${whatToDo} The \`type\` is [/v2/problems/${slug}/](/v2/problems/${slug}/).`,
    )
    .join('\n\n');

/** Every error that the service can answer with, in Markdown, from the catalogues that the answers themselves are made from. */
export const ERROR_INDEX = {
  oauth_errors: oauthErrors(OAUTH_ERROR_KINDS),
  authorization_errors: oauthErrors(AUTHORIZATION_ERROR_KINDS),
  problems: problems(PROBLEM_KINDS),
};
