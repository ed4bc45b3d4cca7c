import fastifyCompress from '@fastify/compress';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';

/**
 * The pages that are compressed. The length of a compressed response can reveal whether text chosen by an attacker also occurs in
 * the rest of it (BREACH). So a page is listed only if it echoes nothing of the request and shows no secret; CSRF tokens are
 * masked differently in every response. Other pages are not compressed, and a test requires a reason for each.
 * A page with links to other languages echoes the query, so it is not compressed with one (`leaveUncompressed`).
 */
export const COMPRESSED_PAGES: ReadonlySet<string> = new Set([
  '/',
  '/docs',
  '/docs/operators',
  '/docs/guides',
  '/docs/guides/:slug',
  '/docs/libraries/:slug',
  '/v2/problems/:slug',
  '/account',
  '/account-deleted',
  '/account/applications/:client_id',
  '/account/applications/:client_id/access',
  '/account/applications/:client_id/history',
  '/account/receipts',
  '/account/receipts/of/:client_id',
  '/account/receipts/:id',
  '/account/sessions',
  '/account/password',
  '/account/security',
  '/portal',
  '/portal/event_types',
  '/portal/refusals',
  '/portal/usage',
  '/portal/verify',
  '/admin/console',
  '/admin/console/event-types',
  '/admin/console/scopes',
]);

// A page is compressed per request, in one piece so that its length is known. At this quality that takes about a millisecond.
const OPTIONS = { encodings: ['br', 'gzip'] as ('br' | 'gzip')[], syncThreshold: 1_048_576 };

/** Compresses pages for clients that accept it. Must be called before any route is registered. */
export async function addCompression(fastify: FastifyInstance): Promise<void> {
  fastify.addHook('onRoute', (route) => {
    route.compress = isCompressed(route) ? OPTIONS : false;
  });
  await fastify.register(fastifyCompress, { global: false });
  fastify.addHook('onRoute', (route) => {
    if (!isCompressed(route)) return;
    // The framework's HEAD handler removes the body, and must count the bytes that GET would send (RFC 9110 §8.6).
    const handlers = [route.onSend ?? []].flat();
    route.onSend = [addVary, ...(route.method === 'HEAD' ? handlers.toReversed() : handlers)];
  });
}

const isCompressed = ({ method, url }: RouteOptions): boolean =>
  (method === 'GET' || method === 'HEAD') && COMPRESSED_PAGES.has(url);

/** Keeps the response to this request uncompressed, because it echoes something of it. */
export function leaveUncompressed(request: FastifyRequest): void {
  // The header that @fastify/compress checks.
  request.headers['x-no-compression'] = 'true';
}

/** Also for uncompressed responses, so that a cache does not serve them to clients with another Accept-Encoding. */
export function varyByEncoding(reply: FastifyReply): void {
  const vary = String(reply.getHeader('vary') ?? '');
  if (!vary.includes('accept-encoding')) {
    void reply.header('vary', vary === '' ? 'accept-encoding' : `${vary}, accept-encoding`);
  }
}

const addVary: NonNullable<Extract<RouteOptions['onSend'], (...args: never[]) => unknown>> = (
  _request,
  reply,
  payload,
  done,
) => {
  varyByEncoding(reply);
  done(null, payload);
};
