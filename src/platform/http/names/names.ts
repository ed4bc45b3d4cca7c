import type { LookupAddress } from 'node:dns';
import { readFile } from 'node:fs/promises';
import type { LookupFunction } from 'node:net';
import { hostname as hostOfMachine } from 'node:os';
import { askNameServers, type NameServerOptions } from './ask-name-servers.js';
import { addressesInHostsFile } from './hosts-file.js';
import { namesToAskFor, parseSearchList } from './search-list.js';

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
