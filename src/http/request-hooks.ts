import type { FastifyInstance, FastifyRequest } from 'fastify';
import { methodNotAllowed } from './problem.js';
import { observeRequest } from './request-metrics.js';
import { SERVICE_VERSION } from './service-version.guard.js';

/** What happens around every request: its id, the version header, the line in the log, and an orderly end. */
export function addRequestHooks(fastify: FastifyInstance): void {
  let closing = false;
  fastify.addHook('preClose', async () => {
    closing = true;
  });
  fastify.addHook('onRequest', async (request, reply) => {
    // What an endpoint does not say otherwise is for its caller alone.
    void reply.headers({ 'x-request-id': request.id, 'cache-control': 'no-store' });
    if (request.routeOptions.config?.versioned) void reply.header('service-version', String(SERVICE_VERSION));
  });
  // Before the body is looked at, and after CORS.
  fastify.addHook('preParsing', async (request) => refuseMissingSlash(request));
  // A connection that stays open after its last answer would hold up the shutdown.
  fastify.addHook('onSend', async (_request, reply) => {
    if (closing) void reply.header('connection', 'close');
  });
  fastify.addHook('onResponse', async (request, reply) => {
    const { method } = request;
    const route = request.routeOptions.url ?? '(none)';
    observeRequest(method, route, reply.statusCode, reply.elapsedTime / 1000);
    request.log.info(
      {
        method,
        route,
        status: reply.statusCode,
        milliseconds: Math.round(reply.elapsedTime * 10) / 10,
        address: request.ip,
      },
      'request',
    );
  });
}

/** The router takes both spellings of an address for one. */
function refuseMissingSlash({ routeOptions, url }: FastifyRequest): void {
  if (!routeOptions.config?.needsTrailingSlash || url.split('?', 1)[0]!.endsWith('/')) return;
  throw methodNotAllowed(
    `The trailing slash is required: send the request to ${routeOptions.url}/ instead.`,
    {
      headers: { allow: 'OPTIONS' },
    },
  );
}
