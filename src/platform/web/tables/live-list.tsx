import type { ComponentChildren, VNode } from 'preact';
import { useMayUse } from '../layout/may-use.js';

/** The script that a page with a live list needs. */
export const LIVE_LIST_SCRIPT = '/assets/live-list.js';

export interface LiveListProps {
  /** The list with its filter and place. */
  path: string;
  /** Where the script finds the same list, if not there: a page with less around it. */
  part?: string;
  children: ComponentChildren;
}

/** A list, whose rows have `data-key`, that takes in what is new while its page is seen; without the script, a link refreshes it. */
export const LiveList = ({ path, part = path, children }: LiveListProps): VNode => (
  <>
    <div class="toolbar">
      <p class="toolbar-text" role="status" data-list-status />
      <a href={path}>Refresh</a>
    </div>
    <div data-live-list={part}>{children}</div>
  </>
);

/** The way to the list as a file; nothing for a visitor who may not have it. */
export const CsvLink = ({ path }: { path: string }): VNode | null =>
  useMayUse()('GET', path) ? (
    <p>
      <a href={path}>Download as CSV</a>
    </p>
  ) : null;
