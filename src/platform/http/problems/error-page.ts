import type { FastifyRequest } from 'fastify';
import { pageHeaders } from '../page-routes/page-headers.js';
import { isTranslated, say, type Said } from '#platform/language/text.js';
import { isPosted } from '../forms/form.js';
import { leaveUncompressed } from '../server/compression.js';
import { languageOf } from '../server/request-language.js';
import { renderPage, type LayoutProps } from '#platform/web/layout/layout.js';
import { messagePage } from '#platform/web/layout/message.page.js';
import type { Problem } from './problem.js';
import type { Rendered } from '../server/route-options.js';

/** Plainer headings than the problem titles, for statuses that people may see. */
const HEADINGS: Record<number, string> = {
  400: say('This link or form does not work'),
  403: say('This is not allowed'),
  404: say('Page not found'),
  500: say('Something went wrong'),
  503: say('We will be back shortly'),
};

export const headingOf = ({ status, title, extras }: Problem): string =>
  extras.heading ?? HEADINGS[status] ?? title;

const pageOf = (problem: Problem, detail: string | Said, request: FastifyRequest): LayoutProps =>
  messagePage({
    title: problem.title,
    heading: headingOf(problem),
    text: detail,
    action: { href: '/', label: say('Go to the home page') },
    requestId: request.id,
  });

/** A problem as a page for a person: what went wrong, what to do, and the request id for support. */
export const errorPage = (problem: Problem, request: FastifyRequest): Rendered => ({
  headers: pageHeaders(),
  body: renderPage(pageOf(problem, problem.detail, request), request.server.brand),
});

/** The same for drivers, in their language if all that it says is translated. */
export function driverErrorPage(problem: Problem, request: FastifyRequest): Rendered {
  const detail = problem.extras.said ?? problem.detail;
  const isWhole = [problem.title, headingOf(problem), detail].every(isTranslated);
  const reader = { language: languageOf(request), url: isPosted(request) ? undefined : request.url };
  if (isWhole && request.url.includes('?')) leaveUncompressed(request);
  const page = { ...pageOf(problem, detail, request), isTranslated: isWhole, reader };
  return { headers: pageHeaders(), body: renderPage(page, request.server.brand) };
}
