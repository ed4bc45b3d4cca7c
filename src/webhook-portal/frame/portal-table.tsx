import type { VNode } from 'preact';
import { Table, type TableProps } from '../../web/tables/table.js';

/** A table on a page of the portal, which becomes blocks on a phone as those of the console do. */
export const PortalTable = <T,>(props: TableProps<T>): VNode => (
  <div class="tables">
    <Table {...props} />
  </div>
);
