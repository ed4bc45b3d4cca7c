import { isIP } from 'node:net';
import { isPublicAddress } from './address-rules.js';
import { HttpFailure } from './http-outcome.js';
import { resolveHost, type ResolveOptions } from './resolve-host.js';
import { isUrl, isLoopbackHost } from '#platform/config/is-url.js';
import { violation, type Violation } from '#platform/http/problems/violation.js';

const MAX_LENGTH = 2048;
/** RFC 1035 §2.3.4. */
const MAX_HOST_LENGTH = 253;
const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;
/** Names that only have a meaning inside a network: RFC 6761, 6762, 8375, and the one that ICANN reserved in 2024. */
const INTERNAL_SUFFIXES = ['localhost', 'local', 'internal', 'home.arpa'];

/** The URL as stored and called, or what is wrong with it. */
export type CheckedEndpointUrl = { url: string; reason?: undefined } | { url?: undefined; reason: Violation };

/** Whether the URL names a loopback address of this machine; false for what is no URL. */
export const isOnThisMachine = (text: string): boolean =>
  isUrl(text) && isLoopbackHost(new URL(text).hostname);

/** Checks the text of an endpoint URL (contract §10). */
export function checkEndpointUrl(
  text: string,
  { allowPrivateAddresses }: Pick<ResolveOptions, 'allowPrivateAddresses'>,
): CheckedEndpointUrl {
  const refused = (reason: Violation) => ({ reason });
  if (text === '') return refused(violation('empty'));
  if (text.length > MAX_LENGTH) return refused(violation('too_long', { max: MAX_LENGTH }));
  // A URL parser would silently normalize these.
  if (/[\s\p{C}\\]/u.test(text)) return refused(violation('odd_endpoint_url'));
  const schemes = allowPrivateAddresses ? /^https?:\/\/[^/]/i : /^https:\/\/[^/]/i;
  if (!schemes.test(text)) {
    return refused(violation(isOnThisMachine(text) ? 'internal_address' : 'not_https_host'));
  }
  if (/^[^/]*\/\/[^/?#]*@/.test(text)) return refused(violation('has_user_name'));
  if (text.includes('#')) return refused(violation('endpoint_url_with_fragment'));
  if (!isUrl(text)) return refused(violation('invalid_url'));
  const url = new URL(text);
  url.hostname = url.hostname.replace(/\.$/, '');
  const reason = hostError(url.hostname.replace(/^\[|\]$/g, ''), allowPrivateAddresses);
  if (reason) return refused(reason);
  if (url.href.length > MAX_LENGTH) return refused(violation('too_long', { max: MAX_LENGTH }));
  return { url: url.href };
}

function hostError(host: string, allowPrivateAddresses: boolean): Violation | undefined {
  if (isIP(host) !== 0) {
    return allowPrivateAddresses || isPublicAddress(host) ? undefined : violation('internal_address');
  }
  const labels = host.split('.');
  if (host.length > MAX_HOST_LENGTH || !labels.every((label) => LABEL.test(label))) {
    return violation('invalid_url');
  }
  if (allowPrivateAddresses) return undefined;
  const isInternal = INTERNAL_SUFFIXES.some((suffix) => host === suffix || host.endsWith(`.${suffix}`));
  return isInternal || labels.length === 1 ? violation('internal_name') : undefined;
}

/**
 * What is wrong with the addresses of a checked URL's host, resolved once when the endpoint is saved; undefined if nothing is.
 * Every connection is checked again: this only reports it early.
 */
export async function checkEndpointAddress(
  url: string,
  options: ResolveOptions,
): Promise<Violation | undefined> {
  try {
    await resolveHost(new URL(url).hostname.replace(/^\[|\]$/g, ''), options);
    return undefined;
  } catch (error) {
    if (!(error instanceof HttpFailure)) throw error;
    return error.failure === 'blocked_address'
      ? violation('resolves_to_internal_address')
      : violation('unresolvable_host', { why: error.detail });
  }
}
