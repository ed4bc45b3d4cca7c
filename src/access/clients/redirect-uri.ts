import type { ClientType } from './client.entity.js';
import { isUrl } from '#platform/config/is-url.js';
import { violation, type Violation } from '#platform/http/problems/violation.js';

const MAX_LENGTH = 2000;

/** What is wrong with a redirect URI that a client of this type wants to register; undefined if nothing is (contract §3). */
export function redirectUriViolation(text: string, type: ClientType): Violation | undefined {
  if (text.length > MAX_LENGTH) return violation('too_long', { max: MAX_LENGTH });
  // A URL parser would silently normalize these, but URIs are compared as exact strings.
  if (/[\s\\"<>^`{|}]/.test(text) || !/^[\x21-\x7e]+$/.test(text)) return violation('not_plain_ascii');
  if (text.includes('*')) return violation('has_wildcard');
  if (text.includes('#')) return violation('has_fragment');
  if (!isUrl(text)) return violation('not_absolute');
  const url = new URL(text);
  if (url.username || url.password) return violation('has_user_name');
  // The host becomes part of a Content-Security-Policy, where a semicolon would start another directive.
  if (/^https?:$/.test(url.protocol) && !/^([a-z0-9.-]+|\[[0-9a-f:.]+\])$/i.test(url.hostname))
    return violation('no_host');
  if (url.protocol === 'https:') return /^https:\/\/[^/]/i.test(text) ? undefined : violation('no_host');
  if (url.protocol === 'http:') {
    return isLoopbackUrl(url) || url.hostname === 'localhost' ? undefined : violation('not_https');
  }
  if (type !== 'public') return violation('not_https_or_loopback');
  // RFC 8252 §7.1: a private-use scheme is a domain name in reverse, so it has a dot in it.
  return url.protocol.includes('.') ? undefined : violation('scheme_without_dot');
}

/**
 * Whether the URI of a request is registered: an exact match, except for the port of a loopback IP address, which a native app
 * chooses when it starts (RFC 8252 §7.3).
 */
export function isRegisteredRedirectUri(requested: string, registered: readonly string[]): boolean {
  if (registered.includes(requested)) return true;
  const withoutPort = loopbackWithoutPort(requested);
  return withoutPort !== undefined && registered.some((uri) => loopbackWithoutPort(uri) === withoutPort);
}

/** The loopback URI without its port; undefined for any other URI. It edits the text, so that everything else stays exact. */
function loopbackWithoutPort(text: string): string | undefined {
  const match = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]))(?::(\d{1,5}))?((?:[/?][\x21-\x7e]*)?)$/.exec(text);
  if (!match || Number(match[2] ?? 80) > 65_535) return undefined;
  return `${match[1]}${match[3]}`;
}

const isLoopbackUrl = (url: URL): boolean => url.hostname === '127.0.0.1' || url.hostname === '[::1]';
