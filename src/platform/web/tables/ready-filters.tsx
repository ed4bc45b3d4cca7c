import type { VNode } from 'preact';

/** A filter that many need daily, as a link that can be kept. */
export interface ReadyFilter {
  label: string;
  /** The fields of the filter that it sets. */
  set: Readonly<Record<string, string>>;
}

export interface ReadyFiltersProps {
  /** Path of the list. */
  path: string;
  filters: readonly ReadyFilter[];
  /** The filter that the list has. */
  filter: Readonly<Record<string, string | undefined>>;
}

/** Links to a list with such filters, after one to the whole list; the one that the list has is marked. */
export function ReadyFilters({ path, filters, filter }: ReadyFiltersProps): VNode | null {
  if (filters.length === 0) return null;
  const now = textOf(filter);
  return (
    <nav class="switch" aria-label="Ready filters">
      {[{ label: 'Everything', set: {} }, ...filters].map(({ label, set }) => {
        const query = textOf(set);
        return (
          <a href={query ? `${path}?${query}` : path} aria-current={query === now ? 'page' : undefined}>
            {label}
          </a>
        );
      })}
    </nav>
  );
}

const textOf = (filter: Readonly<Record<string, string | undefined>>): string =>
  new URLSearchParams(
    Object.entries(filter)
      .filter((pair): pair is [string, string] => !!pair[1])
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  ).toString();
