import type { ArgumentsHost } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** The current request and its reply. */
export function exchangeOf(host: ArgumentsHost): { request: FastifyRequest; reply: FastifyReply } {
  const http = host.switchToHttp();
  return { request: http.getRequest<FastifyRequest>(), reply: http.getResponse<FastifyReply>() };
}

/** Redirects instead of answering; returns false, for a guard that does not admit the request. */
export function redirectInstead(reply: FastifyReply, path: string): false {
  void reply.header('cache-control', 'no-store').redirect(path, 303);
  return false;
}
