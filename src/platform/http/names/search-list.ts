/** What of resolv.conf(5) decides which names are asked for. */
export interface SearchList {
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
