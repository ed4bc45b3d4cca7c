import type { FastifyRequest } from 'fastify';

/** Where a request came from, for the audit log. */
export const originOf = (request: FastifyRequest): { address: string; requestId: string } => ({
  address: request.ip,
  requestId: request.id,
});
