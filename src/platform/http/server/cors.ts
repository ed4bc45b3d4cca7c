import type { FastifyInstance, FastifyRequest } from 'fastify';

/** Contract §4: the paths that browsers of any origin may call, without credentials. */
const OPEN_PATHS = new RegExp(
  `^/(${[
    'o/token',
    'o/par',
    'o/revoke_token',
    '\\.well-known/(oauth-authorization-server|oauth-protected-resource|openid-configuration|consent-receipts/jwks\\.json|webhooks/[^/]+/jwks\\.json)',
    'webhook_portal',
    '(v2/users|notifications)(/[^/]+)?',
    'v2/event_types(/[^/]+/versions/[^/]+/schema)?',
  ].join('|')})/?$`,
);
const HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': [
    'X-RateLimit-Limit',
    'X-RateLimit-Remaining',
    'Retry-After',
    'Link',
    'Service-Version',
    'WWW-Authenticate',
    'DPoP-Nonce',
    'X-Request-Id',
  ].join(', '),
};
const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': 'GET, HEAD, POST, PATCH',
  // The examples of token requests send Cache-Control too (source specification §4).
  'access-control-allow-headers':
    'Authorization, Cache-Control, Content-Type, DPoP, Service-Version, X-Request-Id',
  'access-control-max-age': '3600',
};

/**
 * Adds CORS headers to every response of an open path, with or without an Origin, and answers preflight requests there. They are
 * the same for every origin, so responses need no Vary. OPTIONS requests to other paths are refused like any unsupported method.
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
