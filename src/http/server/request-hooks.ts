import type { FastifyInstance, FastifyRequest } from 'fastify';
import { GatheredResponses } from './gathered-responses.js';
import { GracefulShutdown } from './graceful-shutdown.js';
import { methodNotAllowed } from '../problems/problem.js';
import { observeRequest } from './request-metrics.js';
import { SERVICE_VERSION } from '../api/service-version.guard.js';

/** What happens around every request: its id, the version header, the log line, and closing connections at shutdown. */
export function addRequestHooks(fastify: FastifyInstance): void {
  let closing = false;
  const shutdown = new GracefulShutdown();
  const responses = new GatheredResponses();
  fastify.decorateReply('isHeld', false);
  fastify.addHook('preClose', async () => {
    closing = true;
    await shutdown.finish();
  });
  // Callbacks, because these run for every request: a promise for each would cost more than their work.
  fastify.addHook('onRequest', (request, reply, done) => {
    // By default, responses must not be cached; endpoints may override this.
    void reply.headers({ 'x-request-id': request.id, 'cache-control': 'no-store' });
    if (request.routeOptions.config?.versioned) void reply.header('service-version', String(SERVICE_VERSION));
    done();
  });
  // Before the body is read, and after CORS.
  fastify.addHook('preParsing', (request, _reply, payload, done) => {
    done(missingSlash(request), payload);
  });
  // A connection kept open after its last response would delay the shutdown.
  fastify.addHook('onSend', (_request, reply, payload, done) => {
    if (closing) void reply.header('connection', 'close');
    responses.hold(reply, payload, done);
  });
  fastify.addHook('onResponse', (request, reply, done) => {
    // A response that was made before the shutdown did not announce the connection's end.
    if (closing && !fastify.server.listening) request.raw.socket.destroySoon();
    const { method, routeOptions } = request;
    if (routeOptions.config?.tellsReadiness) shutdown.asked();
    const route = routeOptions.url ?? '(none)';
    const { elapsedTime, statusCode } = reply;
    observeRequest(method, route, statusCode, elapsedTime / 1000);
    // Balancers and Prometheus ask all the time.
    const level = routeOptions.config?.isInternal && statusCode < 400 ? 'debug' : 'info';
    request.log[level](
      {
        method,
        route,
        status: statusCode,
        milliseconds: Math.round(elapsedTime * 10) / 10,
        address: request.ip,
      },
      'request',
    );
    done();
  });
}

/** The router treats the URL with and without a trailing slash as the same. */
function missingSlash({ routeOptions, url }: FastifyRequest): Error | null {
  if (!routeOptions.config?.needsTrailingSlash || url.split('?', 1)[0]!.endsWith('/')) return null;
  return methodNotAllowed(
    `The trailing slash is required: send the request to ${routeOptions.url}/ instead.`,
    {
      headers: { allow: 'OPTIONS' },
    },
  );
}
