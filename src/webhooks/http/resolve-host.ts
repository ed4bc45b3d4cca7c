import type { LookupAddress } from 'node:dns';
import { lookup as systemLookup, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { withTimeout, TimeoutError } from '../../rate-limits/store/with-timeout.js';
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
// The second try ends before the timeout.
const DNS_TRY = { timeout: 2_000, tries: 2 };
/** How long to wait for the other address family when one is there, in milliseconds. */
const OTHER_FAMILY_MS = 1_000;
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
  const { lookup = options.allowPrivateAddresses ? askSystem : (name) => askNameServers(name) } = options;
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
  const code = codeOf(error);
  if (code !== undefined && NO_ANSWER_CODES.has(code)) return NO_SUCH_NAME;
  if (error instanceof TimeoutError || code === 'ETIMEOUT' || code === 'ECANCELLED') {
    return 'The name servers of the host did not respond in time.';
  }
  return 'The host name could not be resolved: its name servers returned an error.';
}

const NO_ANSWER_CODES = new Set(['ENOTFOUND', 'ENODATA']);
const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException | undefined)?.code;

/** If receivers may be on this machine, its hosts file applies. */
const askSystem: Lookup = (hostname) => systemLookup(hostname, { all: true });

/**
 * Queries the name servers over sockets of our own. The system resolver blocks threads shared by all names, so a few names whose
 * servers never respond would hold up every delivery (contract §10). When one address family has arrived, the other gets one more
 * second, because servers that answer only for one are not uncommon.
 */
export async function askNameServers(
  hostname: string,
  { servers, timeoutMs = DNS_TIMEOUT_MS - 100 }: { servers?: string[]; timeoutMs?: number } = {},
): Promise<LookupAddress[]> {
  const resolver = new Resolver(DNS_TRY);
  if (servers) resolver.setServers(servers);
  const timers = [setTimeout(() => resolver.cancel(), timeoutMs)];
  const ask = async (family: 4 | 6): Promise<LookupAddress[]> => {
    const found = await (family === 4 ? resolver.resolve4(hostname) : resolver.resolve6(hostname));
    timers.push(setTimeout(() => resolver.cancel(), OTHER_FAMILY_MS));
    return found.map((address) => ({ address, family }));
  };
  const answers = await Promise.allSettled([ask(4), ask(6)]);
  timers.forEach((timer) => clearTimeout(timer));
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  if (found.length > 0) return found;
  const errors = answers.map((answer) =>
    answer.status === 'rejected' ? (answer.reason as unknown) : undefined,
  );
  throw errors.find((error) => !NO_ANSWER_CODES.has(codeOf(error) ?? '')) ?? errors[0];
}
