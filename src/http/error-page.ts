import type { FastifyRequest } from 'fastify';
import { pageHeaders } from './page-headers.js';
import { messagePage } from './pages/message.page.js';
import type { Problem } from './problem.js';
import type { Rendered } from './route-options.js';

/** A refusal as a page for a person: what went wrong, what to do, and the request id to quote. */
export function errorPage(problem: Problem, request: FastifyRequest): Rendered {
  const body = messagePage({
    title: problem.title,
    heading: problem.title,
    text: problem.detail,
    action: { href: '/', label: 'Go to the start page' },
    requestId: request.id,
  });
  return { headers: pageHeaders(), body };
}
