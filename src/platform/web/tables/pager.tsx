import type { ComponentChildren, VNode } from 'preact';
import type { Page } from '#platform/database/queries/read-page.js';
import { say } from '#platform/language/text.js';
import { Say, useText } from '../layout/say.js';

/** For lists that are not in the order of time. */
export const NEXT_PREVIOUS = { previous: say('Previous'), next: say('Next') };

interface PagerProps {
  page: Page<{ id: string }>;
  /** Path of the list, with its filter. */
  path: string;
  /** The label of the navigation, for screen readers. */
  label: string;
  /** Messages, which are translated here. */
  labels?: { previous: string; next: string };
}

/** Links to the previous and next page of a list; nothing if the list fits on one page. */
function Pager({
  page: { items, hasPrevious, hasNext },
  path,
  label,
  labels = { previous: say('Newer'), next: say('Older') },
}: PagerProps): VNode | null {
  const t = useText();
  const first = items[0];
  const last = items.at(-1);
  if (!first || !last || (!hasPrevious && !hasNext)) return null;
  const part = path + (path.includes('?') ? '&' : '?');
  return (
    <nav class="pager" aria-label={label}>
      {hasPrevious && (
        <a href={`${part}page_before=${first.id}`} rel="prev">
          <span class="arrow">←</span> {t(labels.previous)}
        </a>
      )}
      {hasNext && (
        <a href={`${part}page_after=${last.id}`} rel="next">
          {t(labels.next)} <span class="arrow">→</span>
        </a>
      )}
    </nav>
  );
}

export interface PagedListProps extends PagerProps {
  /** Shown if the list is empty. */
  empty: ComponentChildren;
  children: ComponentChildren;
}

/** One page of a list, or words instead of an empty one, with links to the previous and next page. */
export function PagedList({ empty, children, ...pager }: PagedListProps): VNode {
  const { page, path } = pager;
  return (
    <>
      {page.items.length > 0 ? (
        children
      ) : (
        <p class="empty">
          {page.hasNext || page.hasPrevious ? (
            <Say
              it="There is nothing more here. <first>Back to the first page</first>"
              with={{ first: (words) => <a href={path}>{words}</a> }}
            />
          ) : (
            empty
          )}
        </p>
      )}
      <Pager {...pager} />
    </>
  );
}
