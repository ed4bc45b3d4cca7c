import type { FastifyInstance, FastifyRequest } from 'fastify';
import { inLogScope } from '#platform/telemetry/log-scope.js';
import { isForPerson } from './route-options.js';
import { tracing, type RequestSpan } from '#platform/telemetry/tracing.js';

declare module 'fastify' {
  interface FastifyRequest {
    span: RequestSpan | undefined;
  }
}

/** Runs every request in a log scope with its id, and traces it if tracing is enabled. Must run before all other hooks. */
export function addRequestContext(fastify: FastifyInstance): void {
  fastify.decorateRequest('span', undefined);
  const traces = tracing();
  fastify.addHook('onRequest', (request, _reply, done) => {
    request.span = traces?.begin(request);
    if (request.span) request.log = request.log.child({ trace_id: request.span.traceId });
    inRequestContext(request, done);
  });
  if (!traces) return;
  fastify.addHook('onResponse', (request, reply, done) => {
    request.span?.end(reply);
    done();
  });
}

/** Runs work in the log scope and the trace of a request. */
export function inRequestContext(request: FastifyRequest, work: () => void): void {
  const { id, span } = request;
  const asking = isForPerson(request) ? 'person' : 'program';
  if (!span) return inLogScope({ request_id: id }, work, asking);
  inLogScope({ request_id: id, trace_id: span.traceId }, () => span.run(work), asking);
}
