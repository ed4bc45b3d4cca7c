import accepts from 'accepts';
import type { FastifyRequest } from 'fastify';

/** Whether the client prefers a page over JSON: browsers do, HTTP clients without a preference do not. */
export const prefersHtml = (request: FastifyRequest): boolean =>
  accepts(request.raw).type(['json', 'html']) === 'html';

/** Which of JSON and HTML the client prefers, JSON without a preference; undefined if it accepts neither. */
export function jsonOrHtml(request: FastifyRequest): 'json' | 'html' | undefined {
  const type = accepts(request.raw).type(['application/json', 'text/html']);
  if (type === false) return undefined;
  return type === 'text/html' ? 'html' : 'json';
}
