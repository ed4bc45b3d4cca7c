import type { IncomingMessage } from 'node:http';

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
