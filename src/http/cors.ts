import type { FastifyInstance, FastifyRequest } from 'fastify';

/** Contract §4: what browsers of any origin may call, without credentials. */
const OPEN_PATHS =
  /^\/(o\/token|o\/revoke_token|\.well-known\/oauth-authorization-server|webhook_portal|(v2\/users|notifications)(\/[^/]+)?)\/?$/;
const HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': [
    'X-RateLimit-Limit',
    'X-RateLimit-Remaining',
    'Retry-After',
    'Link',
    'Service-Version',
    'WWW-Authenticate',
    'X-Request-Id',
  ].join(', '),
};
const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': 'GET, HEAD, POST, PATCH',
  'access-control-allow-headers': 'Authorization, Content-Type, Service-Version',
  'access-control-max-age': '3600',
};

/**
 * Says so on every answer of an open path, with or without an Origin, and answers preflight requests there. It is the same
 * for every origin, so no answer varies by it. Any other OPTIONS request is one that no address takes.
 */
export function addCors(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    if (!OPEN_PATHS.test(request.url.split('?', 1)[0]!)) return done();
    void reply.headers(HEADERS);
    if (!isPreflight(request)) return done();
    void reply.status(204).headers(PREFLIGHT_HEADERS).send();
  });
}

const isPreflight = ({ method, headers }: FastifyRequest): boolean =>
  method === 'OPTIONS' && Boolean(headers.origin && headers['access-control-request-method']);
