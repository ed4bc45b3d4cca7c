import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';

/** Options for tests. */
export interface NameServerOptions {
  /** Instead of those of resolv.conf. */
  servers?: string[];
  timeoutMs?: number;
}

/** The time for all names together, in milliseconds: a third of a delivery's time. */
const TIMEOUT_MS = 4_900;
// The second try ends before that.
const TRY = { timeout: 2_000, tries: 2 };
/** How long to wait for the other address family when one is there, in milliseconds. */
const OTHER_FAMILY_MS = 1_000;

/** There is no such name, or it has no address. */
export const NO_ANSWER_CODES: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA']);
/** No server has answered: none will for the next name either. */
const SILENT_CODES: ReadonlySet<unknown> = new Set(['ETIMEOUT', 'ECANCELLED', 'ECONNREFUSED']);
const codeOf = (error: unknown): unknown => (error as NodeJS.ErrnoException | undefined)?.code;

/** The addresses of the first of these names that has any, by the name servers, over sockets of its own. */
export async function askNameServers(
  names: string[],
  { servers, timeoutMs = TIMEOUT_MS }: NameServerOptions = {},
): Promise<LookupAddress[]> {
  const resolver = new Resolver(TRY);
  if (servers) resolver.setServers(servers);
  const limit = setTimeout(() => resolver.cancel(), timeoutMs);
  const errors: unknown[] = [];
  try {
    for (const name of names) {
      try {
        return await addressesOf(name, resolver);
      } catch (error) {
        errors.push(error);
        if (SILENT_CODES.has(codeOf(error))) break;
      }
    }
  } finally {
    clearTimeout(limit);
  }
  throw mostTelling(errors);
}

/**
 * Asks for both address families at once. When one has arrived, the other gets one more second, because servers that answer only for
 * one are not uncommon.
 */
async function addressesOf(name: string, resolver: Resolver): Promise<LookupAddress[]> {
  const timers: NodeJS.Timeout[] = [];
  const ask = async (family: 4 | 6): Promise<LookupAddress[]> => {
    const found = await (family === 4 ? resolver.resolve4(name) : resolver.resolve6(name));
    timers.push(setTimeout(() => resolver.cancel(), OTHER_FAMILY_MS));
    return found.map((address) => ({ address, family }));
  };
  const answers = await Promise.allSettled([ask(4), ask(6)]);
  timers.forEach((timer) => clearTimeout(timer));
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  if (found.length > 0) return found;
  throw mostTelling(
    answers.map((answer) => (answer.status === 'rejected' ? answer.reason : undefined) as unknown),
  );
}

/** That a server failed says more than that a name does not exist. */
const mostTelling = (errors: unknown[]): unknown =>
  errors.find((error) => !NO_ANSWER_CODES.has(codeOf(error))) ?? errors[0];
