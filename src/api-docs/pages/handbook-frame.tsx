import type { ComponentChildren, VNode } from 'preact';
import { Navigation } from '../../web/layout/navigation.js';
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

interface FrameProps {
  /** The address of the page, if it is in the navigation. */
  current?: string;
  /** What was searched for. */
  query?: string;
  /** The text itself lists all pages. */
  isList?: boolean;
  /** Beside the text. */
  contents?: ComponentChildren;
  children: ComponentChildren;
}

/** The search and the way to all pages, beside the text; on a phone above it. */
export const HandbookFrame = ({ current, query, isList, contents, children }: FrameProps): VNode => (
  <div class={isList ? 'guide guide-single' : 'guide'}>
    <search class="guide-search">
      <form action="/docs/search" method="get">
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
    {!isList && (
      <>
        <div class="guide-nav">
          <Lists current={current} />
        </div>
        {/* Takes the place of the list on a phone. */}
        <details class="guide-menu">
          <summary>All guides</summary>
          <Lists current={current} />
        </details>
      </>
    )}
    <div class="guide-text">{children}</div>
    {contents}
  </div>
);

const Lists = ({ current }: { current?: string }): VNode => (
  <>
    <p>
      <a href="/docs">API reference</a>
    </p>
    {SHELVES.map(({ folder, label, entries }) => (
      <>
        <p class="guide-shelf">{label}</p>
        <Navigation
          class="guide-links"
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
  </>
);
