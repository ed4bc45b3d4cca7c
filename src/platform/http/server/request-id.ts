import type { IncomingMessage } from 'node:http';
import { newUlid } from '#platform/secrets/ids.js';

/**
 * The path and query of a request, also if the request line names a host (RFC 9112 §3.2.2, absolute-form). The public URL is a
 * setting, and no host that a caller makes up may reach a link, a redirect or a form.
 */
export function originForm({ url = '/' }: IncomingMessage): string {
  if (url.startsWith('/')) return url;
  const rest = /^https?:\/\/[^/?#]*([^]*)$/i.exec(url)?.[1];
  if (rest === undefined) return url;
  return rest.startsWith('/') ? rest : `/${rest}`;
}

// A secret of ours that someone sends here by mistake must not reach the logs.
const SANE = /^(?!cds_)[A-Za-z0-9._-]{1,128}$/;

/** The caller's X-Request-Id if it is valid, otherwise a new ULID. */
export function requestIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && SANE.test(given) ? given : newUlid();
}
