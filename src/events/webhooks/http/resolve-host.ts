import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { NO_ANSWER_CODES } from '#platform/http/names/ask-name-servers.js';
import { NAMES } from '#platform/http/names/names.js';
import { withTimeout, TimeoutError } from '#access/rate-limits/store/with-timeout.js';
import { isPublicAddress } from './address-rules.js';
import { HttpFailure, INTERNAL_ADDRESS } from './http-outcome.js';

/** All addresses of a name; throws an error with a DNS code if there are none. */
type Lookup = (hostname: string) => Promise<LookupAddress[]>;

/** How hosts are resolved, and whether internal ones may be connected to. */
export interface ResolveOptions {
  allowPrivateAddresses: boolean;
  /** Replaces the name servers in tests. */
  lookup?: Lookup;
  dnsTimeoutMs?: number;
}

/** Timeout of the name servers in milliseconds: a third of a delivery's time. */
const DNS_TIMEOUT_MS = 5_000;
/** At most this many addresses of a name are tried, however many were checked. */
const ADDRESSES_TRIED = 8;

/**
 * The addresses to which a connection to this host may be made: those of the name, or the host itself. Throws an HttpFailure:
 * `dns`, or `blocked_address` if even one of them is internal (contract §10).
 */
export async function resolveHost(hostname: string, options: ResolveOptions): Promise<LookupAddress[]> {
  const addresses = await addressesOf(hostname, options);
  if (!options.allowPrivateAddresses && !addresses.every(({ address }) => isPublicAddress(address))) {
    throw new HttpFailure('blocked_address', INTERNAL_ADDRESS);
  }
  return addresses.slice(0, ADDRESSES_TRIED);
}

async function addressesOf(hostname: string, options: ResolveOptions): Promise<LookupAddress[]> {
  const family = isIP(hostname);
  if (family !== 0) return [{ address: hostname, family }];
  // Where receivers may be on this machine or in its network, they are found as it finds them.
  const { lookup = (name) => (options.allowPrivateAddresses ? NAMES.local(name) : NAMES.public(name)) } =
    options;
  try {
    const addresses = await withTimeout(options.dnsTimeoutMs ?? DNS_TIMEOUT_MS, lookup(hostname));
    if (addresses.length > 0) return addresses;
  } catch (error) {
    throw new HttpFailure('dns', detailOf(error));
  }
  throw new HttpFailure('dns', NO_SUCH_NAME);
}

const NO_SUCH_NAME = 'The host name does not exist, or has no address.';

function detailOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (NO_ANSWER_CODES.has(code)) return NO_SUCH_NAME;
  if (error instanceof TimeoutError || code === 'ETIMEOUT' || code === 'ECANCELLED') {
    return 'The name servers of the host did not respond in time.';
  }
  return 'The host name could not be resolved: its name servers returned an error.';
}
