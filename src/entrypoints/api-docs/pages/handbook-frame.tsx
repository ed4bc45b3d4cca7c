import type { ComponentChildren, VNode } from 'preact';
import { Navigation } from '#platform/web/layout/navigation.js';
import { pathOf, SHELVES } from '../handbook/catalogue.js';

/** What the pages of the handbook have in common. */
export const LAYOUT = {
  width: 'full',
  styles: ['/assets/guides.css'],
  scripts: ['/assets/page.js', '/assets/guides.js'],
  footer: 'for developers',
} as const;

/** All pages in the order of the navigation. */
export const IN_ORDER = SHELVES.flatMap(({ folder, entries }) =>
  entries.map(({ slug, label }) => ({ href: pathOf(folder, slug), label })),
);

interface SideProps {
  /** The address of the page, if it is in the navigation. */
  current?: string;
  /** What was searched for. */
  query?: string;
}

/** The search and the way to all pages, beside the page; folded up above it where there is no room. */
export const HandbookSide = ({ current, query }: SideProps): VNode => (
  <>
    <search>
      <form class="guide-search" action="/docs/search" method="get">
        <label class="visually-hidden" for="docs-query">
          Search the documentation
        </label>
        <input
          type="search"
          name="q"
          id="docs-query"
          value={query}
          maxLength={100}
          aria-keyshortcuts="/"
          autocomplete="off"
        />
        <button type="submit" class="quiet">
          Search
        </button>
      </form>
    </search>
    <details class="menu">
      <summary>All guides</summary>
      <p>
        <a href="/docs">API reference</a>
      </p>
      {SHELVES.map(({ folder, label, entries }) => (
        <>
          <p class="guide-shelf">{label}</p>
          <Navigation
            class="side-nav"
            label={label}
            current={current}
            links={entries.map(({ slug, label: name }) => ({
              part: pathOf(folder, slug),
              href: pathOf(folder, slug),
              label: name,
            }))}
          />
        </>
      ))}
    </details>
  </>
);

interface TextProps {
  /** Beside the text. */
  contents?: ComponentChildren;
  children: ComponentChildren;
}

/** The text of a page of the handbook. */
export const HandbookText = ({ contents, children }: TextProps): VNode => (
  <div class="guide">
    <div class="guide-text">{children}</div>
    {contents}
  </div>
);
