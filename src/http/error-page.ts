import type { FastifyRequest } from 'fastify';
import { pageHeaders } from './page-headers.js';
import { messagePage } from './pages/message.page.js';
import type { Problem } from './problem.js';
import type { Rendered } from './route-options.js';

/** Plainer words than a developer's, where a person may see the status. */
const HEADINGS: Record<number, string> = {
  400: 'This link or form does not work',
  403: 'This form cannot be used any more',
  404: 'There is no page here',
  500: 'Something went wrong',
  503: 'We are back in a moment',
};

/** A refusal as a page for a person: what went wrong, what to do, and the request id to quote. */
export function errorPage(problem: Problem, request: FastifyRequest): Rendered {
  const body = messagePage({
    title: problem.title,
    heading: HEADINGS[problem.status] ?? problem.title,
    text: problem.detail,
    action: { href: '/', label: 'Go to the start page' },
    requestId: request.id,
  });
  return { headers: pageHeaders(), body };
}
