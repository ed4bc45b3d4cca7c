import accepts from 'accepts';
import type { FastifyRequest } from 'fastify';

/** Whether the caller would rather have a page than JSON: a browser does, an HTTP client with no wish does not. */
export const prefersHtml = (request: FastifyRequest): boolean =>
  accepts(request.raw).type(['json', 'html']) === 'html';

/** Which of JSON and HTML the caller wants, JSON where it does not mind; undefined where it takes neither. */
export function jsonOrHtml(request: FastifyRequest): 'json' | 'html' | undefined {
  const type = accepts(request.raw).type(['application/json', 'text/html']);
  if (type === false) return undefined;
  return type === 'text/html' ? 'html' : 'json';
}
