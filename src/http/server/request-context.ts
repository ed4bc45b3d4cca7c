import type { FastifyInstance } from 'fastify';
import { inLogScope } from '../../telemetry/log-scope.js';
import { tracing, type RequestSpan } from '../../telemetry/tracing.js';

declare module 'fastify' {
  interface FastifyRequest {
    span: RequestSpan | undefined;
  }
}

/** Runs every request in a log scope with its id, and traces it if tracing is enabled. Must run before all other hooks. */
export function addRequestContext(fastify: FastifyInstance): void {
  const traces = tracing();
  if (!traces) {
    fastify.addHook('onRequest', (request, _reply, done) => inLogScope({ request_id: request.id }, done));
    return;
  }
  fastify.decorateRequest('span', undefined);
  fastify.addHook('onRequest', (request, _reply, done) => {
    const span = traces.begin(request);
    if (!span) return inLogScope({ request_id: request.id }, done);
    request.span = span;
    request.log = request.log.child({ trace_id: span.traceId });
    inLogScope({ request_id: request.id, trace_id: span.traceId }, () => span.run(done));
  });
  fastify.addHook('onResponse', (request, reply, done) => {
    request.span?.end(reply);
    done();
  });
}
