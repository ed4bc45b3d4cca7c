import type { ArgumentsHost } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** The request that is handled, and the reply to it. */
export function exchangeOf(host: ArgumentsHost): { request: FastifyRequest; reply: FastifyReply } {
  const http = host.switchToHttp();
  return { request: http.getRequest<FastifyRequest>(), reply: http.getResponse<FastifyReply>() };
}

/** Leads elsewhere instead of answering; the result is that of a guard that does not admit the request. */
export function leadTo(reply: FastifyReply, path: string): false {
  void reply.header('cache-control', 'no-store').redirect(path, 303);
  return false;
}
