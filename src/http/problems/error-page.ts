import type { FastifyRequest } from 'fastify';
import { pageHeaders } from '../page-routes/page-headers.js';
import { renderPage } from '../../web/layout/layout.js';
import { messagePage } from '../../web/layout/message.page.js';
import type { Problem } from './problem.js';
import type { Rendered } from '../server/route-options.js';

/** Plainer headings than the problem titles, for statuses that people may see. */
const HEADINGS: Record<number, string> = {
  400: 'This link or form does not work',
  403: 'This is not allowed',
  404: 'Page not found',
  500: 'Something went wrong',
  503: 'We will be back shortly',
};

export const headingOf = ({ status, title, extras }: Problem): string =>
  extras.heading ?? HEADINGS[status] ?? title;

/** A problem as a page for a person: what went wrong, what to do, and the request id for support. */
export function errorPage(problem: Problem, request: FastifyRequest): Rendered {
  const page = messagePage({
    title: problem.title,
    heading: headingOf(problem),
    text: problem.detail,
    action: { href: '/', label: 'Go to the home page' },
    requestId: request.id,
  });
  return { headers: pageHeaders(), body: renderPage(page, request.server.brand) };
}
