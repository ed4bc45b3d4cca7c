import type { VNode } from 'preact';
import { useMayUse } from '../layout/may-use.js';

/** The way to the list as a file; nothing for a visitor who may not have it. */
export const CsvLink = ({ path }: { path: string }): VNode | null =>
  useMayUse()('GET', path) ? (
    <p>
      <a href={path}>Download as CSV</a>
    </p>
  ) : null;
