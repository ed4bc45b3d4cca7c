import type { VNode } from 'preact';
import { FilterForm } from '../forms/form.js';
import { SandboxBadge } from '../layout/sandbox-badge.js';

/** Something that was found. */
export interface Hit {
  label: string;
  detail?: string;
  href: string;
  /** Of a client or user; one in a sandbox is marked. */
  environment?: 'live' | 'sandbox';
}

/** What was found of one kind. */
export interface HitsOfKind {
  kind: string;
  hits: Hit[];
  /** The list with the rest. */
  rest?: string;
}

interface SearchProps {
  path: string;
  /** Undefined before a search. */
  wanted: string | undefined;
  found: HitsOfKind[];
  label: string;
  /** Said before a search. */
  hint: string;
  nothing: string;
}

/** The field to search with, and what was found, kind by kind. */
export const Search = ({ path, wanted, found, label, hint, nothing }: SearchProps): VNode => (
  <>
    <FilterForm
      path={path}
      values={{ q: wanted ?? '' }}
      submit="Search"
      fields={[{ name: 'q', label, spellcheck: false }]}
    />
    {found.length === 0 && (
      <p class="empty">
        {wanted === undefined
          ? hint
          : `${nothing} Of requests, the refused ones are kept for seven days, others only in part.`}
      </p>
    )}
    <Hits found={found} />
  </>
);

const Hits = ({ found }: { found: HitsOfKind[] }): VNode => (
  <>
    {found.map(({ kind, hits, rest }) => (
      <>
        <h2>{kind}</h2>
        <ul class="hits">
          {hits.map(({ label, detail, href, environment }) => (
            <li>
              <a href={href}>
                <bdi>{label}</bdi>
              </a>{' '}
              {environment && <SandboxBadge of={{ environment }} />}
              {detail && (
                <span class="under muted whole">
                  <bdi>{detail}</bdi>
                </span>
              )}
            </li>
          ))}
        </ul>
        {rest && (
          <p>
            <a href={rest}>All {kind.toLowerCase()}</a>
          </p>
        )}
      </>
    ))}
  </>
);

/** The hit that a search leads to at once: the only one. */
export function onlyHit(found: HitsOfKind[]): Hit | undefined {
  const [first, ...others] = found.flatMap(({ hits }) => hits);
  return others.length === 0 ? first : undefined;
}

/** What may be searched for: undefined for nothing. */
export const wantedIn = (query: unknown): string | undefined =>
  (typeof query === 'string' && query.trim().slice(0, 200)) || undefined;
