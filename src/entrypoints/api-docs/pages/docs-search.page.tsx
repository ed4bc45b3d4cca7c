import type { VNode } from 'preact';
import type { LayoutProps } from '#platform/web/layout/layout.js';
import { State } from '#platform/web/tables/state.js';
import type { Found } from '../handbook/docs-search.service.js';
import { HandbookSide, HandbookText, LAYOUT } from './handbook-frame.js';

const SHOWN_TEXT = 180;

/** What was found in the documentation, the best first. */
export const docsSearchPage = (query: string, found: Found[]): LayoutProps => ({
  ...LAYOUT,
  scripts: [...LAYOUT.scripts],
  title: query === '' ? 'Search' : `${query} · Search`,
  side: <HandbookSide query={query} />,
  children: (
    <HandbookText>
      <h1>Search</h1>
      <p role="status">{summary(query, found.length)}</p>
      <ol class="guide-list plain" role="list">
        {found.map((each) => (
          <Hit of={each} />
        ))}
      </ol>
    </HandbookText>
  ),
});

function summary(query: string, count: number): string {
  if (query === '') return 'Searches guides, libraries, the reference, errors and types of events.';
  if (count === 0) return `Nothing was found for “${query}”. Try fewer or other words.`;
  return `${count === 1 ? 'One place' : `${count} places`} for “${query}”.`;
}

const Hit = ({ of: { kind, address, title, page, text } }: { of: Found }): VNode => (
  <li>
    <p>
      <a href={address}>{title}</a>{' '}
      <State tone="plain">{page === undefined ? kind : `${kind}: ${page}`}</State>
    </p>
    <p>{text.length > SHOWN_TEXT ? `${text.slice(0, text.lastIndexOf(' ', SHOWN_TEXT))} …` : text}</p>
  </li>
);
