import { isIP } from 'node:net';
import { isPublicAddress } from './address-rules.js';
import { HttpFailure } from './http-outcome.js';
import { resolveHost, type ResolveOptions } from './resolve-host.js';
import { isUrl } from '../../config/is-url.js';

const MAX_LENGTH = 2048;
/** RFC 1035 §2.3.4. */
const MAX_HOST_LENGTH = 253;
const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;
/** Names that only have a meaning inside a network: RFC 6761, 6762, 8375, and the one that ICANN reserved in 2024. */
const INTERNAL_SUFFIXES = ['localhost', 'local', 'internal', 'home.arpa'];

/** The URL as stored and called, or what is wrong with it, phrased to follow the field's name: "must …". */
export type CheckedEndpointUrl = { url: string; reason?: undefined } | { url?: undefined; reason: string };

/** Checks the text of an endpoint URL (contract §10). */
export function checkEndpointUrl(
  text: string,
  { allowPrivateAddresses }: Pick<ResolveOptions, 'allowPrivateAddresses'>,
): CheckedEndpointUrl {
  const refused = (reason: string) => ({ reason });
  if (text === '') return refused('must not be empty');
  if (text.length > MAX_LENGTH) return refused(`must have at most ${MAX_LENGTH} characters`);
  // A URL parser would silently normalize these.
  if (/[\s\p{C}\\]/u.test(text))
    return refused('must not contain spaces, backslashes or invisible characters');
  const schemes = allowPrivateAddresses ? /^https?:\/\/[^/]/i : /^https:\/\/[^/]/i;
  if (!schemes.test(text)) return refused('must start with https:// and a host name');
  if (/^[^/]*\/\/[^/?#]*@/.test(text)) return refused('must not contain a user name or password');
  if (text.includes('#')) return refused('must not have a fragment (#…)');
  if (!isUrl(text)) return refused('must be a valid URL with a valid host');
  const url = new URL(text);
  url.hostname = url.hostname.replace(/\.$/, '');
  const reason = hostError(url.hostname.replace(/^\[|\]$/g, ''), allowPrivateAddresses);
  if (reason) return refused(reason);
  if (url.href.length > MAX_LENGTH) return refused(`must have at most ${MAX_LENGTH} characters`);
  return { url: url.href };
}

function hostError(host: string, allowPrivateAddresses: boolean): string | undefined {
  if (isIP(host) !== 0) {
    return allowPrivateAddresses || isPublicAddress(host)
      ? undefined
      : 'must not point to an internal address: the host must be on the public internet';
  }
  const labels = host.split('.');
  if (host.length > MAX_HOST_LENGTH || !labels.every((label) => LABEL.test(label))) {
    return 'must be a valid URL with a valid host';
  }
  if (allowPrivateAddresses) return undefined;
  const isInternal = INTERNAL_SUFFIXES.some((suffix) => host === suffix || host.endsWith(`.${suffix}`));
  return isInternal || labels.length === 1
    ? 'must not point to an internal name: the host must be on the public internet'
    : undefined;
}

/**
 * What is wrong with the addresses of a checked URL's host, resolved once when the endpoint is saved; undefined if nothing is.
 * Every connection is checked again: this only reports it early.
 */
export async function checkEndpointAddress(
  url: string,
  options: ResolveOptions,
): Promise<string | undefined> {
  try {
    await resolveHost(new URL(url).hostname.replace(/^\[|\]$/g, ''), options);
    return undefined;
  } catch (error) {
    if (!(error instanceof HttpFailure)) throw error;
    return error.failure === 'blocked_address'
      ? 'must not point to an internal address: the host has one that is not on the public internet'
      : `must have a host that can be resolved. ${error.detail}`;
  }
}
