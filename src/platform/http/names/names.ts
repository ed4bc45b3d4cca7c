import type { LookupAddress } from 'node:dns';
import { readFile } from 'node:fs/promises';
import { type LookupFunction, isIP } from 'node:net';
import { hostname as hostOfMachine } from 'node:os';
import { askNameServers, type NameServerOptions } from './ask-name-servers.js';

/** What of resolv.conf(5) decides which names are asked for. */
interface SearchList {
  /** Domains that are put after a name. */
  search: string[];
  /** A name with as many dots is first asked for as it is. */
  ndots: number;
}

// The limit of the C library.
const NDOTS_MAX = 15;

/** Reads the text of a resolv.conf; without `search` and `domain`, the domain is that of this machine's host name. */
export function parseSearchList(text: string, hostname: string): SearchList {
  const [, ...domain] = hostname.split('.');
  const list: SearchList = { search: domain.length > 0 ? [domain.join('.')] : [], ndots: 1 };
  for (const line of text.split('\n')) {
    const [keyword, ...values] = line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/);
    // Of several, the last one counts.
    if (keyword === 'search') list.search = values;
    else if (keyword === 'domain') list.search = values.slice(0, 1);
    else if (keyword === 'options') list.ndots = ndotsOf(values) ?? list.ndots;
  }
  return list;
}

function ndotsOf(options: string[]): number | undefined {
  const given = options.findLast((option) => /^ndots:\d+$/.test(option));
  return given === undefined ? undefined : Math.min(Number(given.slice('ndots:'.length)), NDOTS_MAX);
}

/** The names to ask for in place of this one, in their order: the first that exists counts. */
export function namesToAskFor(name: string, { search, ndots }: SearchList): string[] {
  const within = search
    .map((domain) => `${name}.${domain.replace(/^\.|\.$/g, '')}`)
    .filter((each) => !each.endsWith('.'));
  const isWhole = name.split('.').length - 1 >= ndots;
  return isWhole ? [name, ...within] : [...within, name];
}

const LOOPBACK: LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/**
 * The addresses of a name in the text of a hosts file, in its order; those of loopback for `localhost` and below it, if the file does
 * not say otherwise (RFC 6761 §6.3); undefined if it does not know the name.
 */
export function addressesInHostsFile(text: string, name: string): LookupAddress[] | undefined {
  const wanted = name.toLowerCase();
  const found: LookupAddress[] = [];
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    const family = isIP(address);
    if (family !== 0 && names.some((each) => each.toLowerCase() === wanted)) found.push({ address, family });
  }
  if (found.length > 0) return found;
  return /(^|\.)localhost$/.test(wanted) ? LOOPBACK : undefined;
}

/** Where names are looked up; other places are for tests. */
export interface NameSources extends NameServerOptions {
  hostsFile?: string;
  resolverFile?: string;
}

/**
 * Looks up names without the system's resolver, which blocks one of a few threads for each name until it has an answer: a few names
 * whose servers never respond would hold up all others, and whatever else needs those threads, such as checking passwords. A
 * name is looked up once at a time, whoever asks. Rejects with an error that has a DNS code.
 */
export class Names {
  private readonly underWay = new Map<string, Promise<LookupAddress[]>>();

  constructor(private readonly sources: NameSources = {}) {}

  /** The addresses of a public name, as name servers have it. */
  public(name: string): Promise<LookupAddress[]> {
    return this.once(`public ${name}`, () => askNameServers([name], this.sources));
  }

  /** The addresses of a name as this machine knows it: by its hosts file, then by name servers, also within its search domains. */
  local(name: string): Promise<LookupAddress[]> {
    return this.once(`local ${name}`, async () => {
      const { hostsFile = '/etc/hosts', resolverFile = '/etc/resolv.conf' } = this.sources;
      const known = addressesInHostsFile(await textOf(hostsFile), name);
      if (known) return known;
      const list = parseSearchList(await textOf(resolverFile), hostOfMachine());
      return askNameServers(namesToAskFor(name, list), this.sources);
    });
  }

  private once(key: string, lookUp: () => Promise<LookupAddress[]>): Promise<LookupAddress[]> {
    const found = this.underWay.get(key);
    if (found) return found;
    const answer = lookUp().finally(() => this.underWay.delete(key));
    this.underWay.set(key, answer);
    return answer;
  }
}

/** Those of this machine. */
export const NAMES = new Names();

/** {@link Names.local} for sockets. */
export const lookUpLocally: LookupFunction = (hostname, { all }, answer) => {
  NAMES.local(hostname).then(
    (addresses) =>
      all ? answer(null, addresses) : answer(null, addresses[0]!.address, addresses[0]!.family),
    (error: NodeJS.ErrnoException) => answer(error, []),
  );
};

/** A file that is not there says nothing. */
const textOf = (file: string): Promise<string> => readFile(file, 'utf8').catch(() => '');
