import { say } from '#platform/language/text.js';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { IncomingMessage } from 'node:http';
import { Counter, Histogram } from 'prom-client';
import { lateJudgeOf } from '../guards/late-judgement.js';
import { decorateReplies, GatheredResponses } from './gathered-responses.js';
import { badRequest, methodNotAllowed, notFound, serviceUnavailable } from '../problems/problem.js';
import { unreadBody } from './unread-bodies.js';
import { SERVICE_VERSION } from '../api/service-version.guard.js';
import type { SchemaCompatibility } from '#platform/database/migrations/schema-compatibility.service.js';

/** Refuses requests with a 503 problem once the schema requires a newer build; newer instances serve them. */
export function addSchemaGate(fastify: FastifyInstance, schema: SchemaCompatibility): void {
  fastify.addHook('preParsing', (request, _reply, payload, done) => {
    if (!schema.isOutdated || request.routeOptions.config?.servesAnySchema) return done(null, payload);
    done(
      serviceUnavailable(say('This instance is being replaced by a newer one. Please try again shortly.'), {
        headers: { 'retry-after': '2', connection: 'close' },
      }),
    );
  });
}

/** An instance with `ROLE=worker` only answers its monitoring routes. */
export function addRoleGate(fastify: FastifyInstance): void {
  fastify.addHook('preParsing', (request, _reply, payload, done) => {
    if (request.routeOptions.config?.isInternal) return done(null, payload);
    done(notFound(say('This instance serves no requests. It only works on what waits in the database.')));
  });
}

// Enough for a load balancer that checks every second and needs two failures; leaves five of the eight seconds of contract §14
// for the last requests.
const STAY_OPEN_MS = 3_000;
// A balancer whose last check is no older than this is considered present.
const WATCHED_WITHIN_MS = 5_000;
const ASKED_FOR_MS = 500;

/**
 * The start of a shutdown (contract §14) behind a load balancer. A connection that reaches the listening socket while it closes
 * is lost. So if someone polls readiness, the socket stays open for three more seconds, in which the balancer learns that the
 * instance is not ready and sends requests elsewhere. Otherwise it closes immediately.
 */
class GracefulShutdown {
  /** The start and end of the current series of readiness checks without a long gap; times of `performance.now()`. */
  private since = -Infinity;
  private last = -Infinity;

  /** Records a readiness check. */
  asked(): void {
    const now = performance.now();
    if (now - this.last > WATCHED_WITHIN_MS) this.since = now;
    this.last = now;
  }

  /** Resolves when the listening socket may be closed. */
  async finish(): Promise<void> {
    const isWatched =
      performance.now() - this.last < WATCHED_WITHIN_MS && this.last - this.since >= ASKED_FOR_MS;
    if (isWatched) await new Promise((resolve) => setTimeout(resolve, STAY_OPEN_MS));
  }
}

/** Every request by its route pattern, never by its URL. */
const requestDuration = new Histogram({
  name: 'http_request_duration_seconds',
  help: 'Duration of requests by method, route and status',
  labelNames: ['method', 'route', 'status'] as const,
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
});

/** Requests that failed because a partner requested a fault in the sandbox (contract §19); not failures of the service. */
const faults = new Counter({
  name: 'sandbox_faults_total',
  help: 'Requests that the sandbox made fail on request, by kind',
  labelNames: ['kind'] as const,
});

/** Counts a request that was answered with a requested fault. */
const countFault = (kind: string): void => faults.inc({ kind });

// Bounded by the number of routes and statuses, because all labels come from the code.
const observers = new Map<string, { observe(seconds: number): void }>();

/** Records the duration of a finished request. */
function observeRequest(method: string, route: string, status: number, seconds: number): void {
  const key = `${method} ${route} ${status}`;
  let observer = observers.get(key);
  if (!observer) observers.set(key, (observer = requestDuration.labels({ method, route, status })));
  observer.observe(seconds);
}

/** Headers of a response that is replaced by an error. */
const OF_THE_ANSWER = ['content-type', 'etag', 'last-modified', 'link', 'location'];

/** The hooks of every request: its id, the version header, the log line, and closing connections at shutdown. */
export function addRequestHooks(fastify: FastifyInstance): void {
  let closing = false;
  const shutdown = new GracefulShutdown();
  const responses = new GatheredResponses();
  decorateReplies(fastify);
  fastify.addHook('preClose', async () => {
    closing = true;
    await shutdown.finish();
  });
  // With callbacks, because these run for every request, and a promise would cost more than their work.
  fastify.addHook('onRequest', (request, reply, done) => {
    // By default, responses must not be cached; endpoints may override this.
    void reply.headers({ 'x-request-id': request.id, 'cache-control': 'no-store' });
    if (request.routeOptions.config?.versioned) void reply.header('service-version', String(SERVICE_VERSION));
    done(wrongHost(request.raw));
  });
  // Before the body is read, and after CORS.
  fastify.addHook('preParsing', (request, _reply, payload, done) => {
    done(missingSlash(request) ?? unreadBody(request), payload);
  });
  // A connection kept open after its last response would delay the shutdown.
  fastify.addHook('onSend', (request, reply, payload, done) => {
    if (closing) void reply.header('connection', 'close');
    const judge = lateJudgeOf(request, reply);
    if (!judge) return responses.hold(reply, payload, done);
    judge.judgeAgain(request).then(
      () => responses.hold(reply, payload, done),
      (refusal: Error) => {
        for (const name of OF_THE_ANSWER) reply.removeHeader(name);
        done(refusal);
      },
    );
  });
  fastify.addHook('onResponse', (request, reply, done) => {
    // A response made before the shutdown did not announce that the connection closes.
    if (closing && !fastify.server.listening) request.raw.socket.destroySoon();
    const { method, routeOptions } = request;
    if (routeOptions.config?.tellsReadiness) shutdown.asked();
    const route = routeOptions.url ?? '(none)';
    const { elapsedTime, statusCode } = reply;
    // Requested sandbox faults must not trigger alerts.
    if (request.sandboxFault === undefined) observeRequest(method, route, statusCode, elapsedTime / 1000);
    else countFault(request.sandboxFault);
    // Load balancers and Prometheus poll constantly.
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

/** RFC 9112 §3.2: one Host header. Node uses the first of several, but a proxy in front may use the last. */
function wrongHost({ rawHeaders, httpVersion }: IncomingMessage): Error | undefined {
  let hosts = 0;
  for (let n = 0; n < rawHeaders.length; n += 2) {
    const name = rawHeaders[n]!;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  if (hosts > 1) return badRequest(say('The request has more than one Host header.'));
  // HTTP/1.0 did not have it.
  if (hosts === 0 && httpVersion === '1.1') return badRequest(say('The request has no Host header.'));
  return undefined;
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
