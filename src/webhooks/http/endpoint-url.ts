import { isIP } from 'node:net';
import { isPublicAddress } from './address-rules.js';
import { HttpFailure } from './http-outcome.js';
import { resolveHost, type ResolveOptions } from './resolve-host.js';
import { isUrl } from '../../config/is-url.js';

const MAX_LENGTH = 2048;
/** RFC 1035 §2.3.4. */
const MAX_HOST_LENGTH = 253;
const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;
/** Names that mean something inside a network alone: RFC 6761, 6762, 8375, and what ICANN set aside in 2024. */
const INTERNAL_SUFFIXES = ['localhost', 'local', 'internal', 'home.arpa'];

/** The URL as it is stored and called, or what is wrong with it, to follow the name of the field: "must …". */
export type CheckedEndpointUrl = { url: string; reason?: undefined } | { url?: undefined; reason: string };

/** Whether a URL may be an endpoint's, as far as its text says (contract §10). */
export function checkEndpointUrl(
  text: string,
  { allowPrivateAddresses }: Pick<ResolveOptions, 'allowPrivateAddresses'>,
): CheckedEndpointUrl {
  const refused = (reason: string) => ({ reason });
  if (text === '') return refused('must be given');
  if (text.length > MAX_LENGTH) return refused(`must have at most ${MAX_LENGTH} characters`);
  // A URL parser would mend these without a word.
  if (/[\s\p{C}\\]/u.test(text)) return refused('must not hold spaces, backslashes or invisible characters');
  const schemes = allowPrivateAddresses ? /^https?:\/\/[^/]/i : /^https:\/\/[^/]/i;
  if (!schemes.test(text)) return refused('must begin with https:// and the name of a host');
  if (/^[^/]*\/\/[^/?#]*@/.test(text)) return refused('must not hold a user name or password');
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
 * What is wrong with where the host of a checked URL points, found by resolving it once when the endpoint is saved;
 * undefined where nothing is. Each connection is checked again: this only says it early.
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
      : `must have a host that can be found. ${error.detail}`;
  }
}
