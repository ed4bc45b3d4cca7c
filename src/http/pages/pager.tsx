import type { VNode } from 'preact';
import type { Page } from '../paging.js';

export interface PagerProps {
  page: Page<{ id: string }>;
  /** Path of the list, with its filter. */
  path: string;
  /** The label of the navigation, for screen readers. */
  label: string;
  words?: { previous: string; next: string };
}

/** Links to the previous and next page of a list; nothing if the list fits on one page. */
export function Pager({
  page: { items, hasPrevious, hasNext },
  path,
  label,
  words = { previous: 'Newer', next: 'Older' },
}: PagerProps): VNode | null {
  const first = items[0];
  const last = items.at(-1);
  if (!first || !last || (!hasPrevious && !hasNext)) return null;
  const part = path + (path.includes('?') ? '&' : '?');
  return (
    <nav class="pager" aria-label={label}>
      {hasPrevious && (
        <a href={`${part}page_before=${first.id}`} rel="prev">
          ← {words.previous}
        </a>
      )}
      {hasNext && (
        <a class="pager-next" href={`${part}page_after=${last.id}`} rel="next">
          {words.next} →
        </a>
      )}
    </nav>
  );
}

/** Shown instead of an empty list: either there is nothing at all, or nothing on this page. */
export function NothingHere({
  page,
  path,
  words,
}: {
  page: Page<unknown>;
  path: string;
  words: string;
}): VNode {
  if (!page.hasNext && !page.hasPrevious) return <p class="empty">{words}</p>;
  return (
    <p class="empty">
      There is nothing more here. <a href={path}>Back to the first page</a>
    </p>
  );
}
