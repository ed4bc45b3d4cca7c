import type { FastifyRequest } from 'fastify';
import type { Language } from '#platform/language/languages.js';
import { languageOf } from './request-language.js';

/** Where a request came from, for the audit log. */
export const originOf = (request: FastifyRequest): { address: string; requestId: string } => ({
  address: request.ip,
  requestId: request.id,
});

/** An actor without a known account, with the language of the browser. */
export const visitorOf = (
  request: FastifyRequest,
): { type: 'user'; id: null; address: string; requestId: string; language: Language } => ({
  type: 'user',
  id: null,
  ...originOf(request),
  language: languageOf(request),
});
