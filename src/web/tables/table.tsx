import type { ComponentChildren, VNode } from 'preact';
import type { Page } from '../../database/queries/read-page.js';
import { useMayUse, type MayUse } from '../layout/may-use.js';
import { PagedList } from './pager.js';

export interface Column<T> {
  head: string;
  cell: (row: T) => ComponentChildren;
  /** Numbers are right-aligned. */
  isNumber?: boolean;
  /** What the cell of a row leads to: the column is left out for a visitor who may not use it. */
  leadsTo?: (row: T) => Parameters<MayUse>;
}

export interface TableProps<T> {
  /** What the table shows, for screen readers. */
  caption: string;
  columns: Column<T>[];
  rows: T[];
  /** Names the rows of a list that a script updates. */
  keyOf?: (row: T) => string;
}

/**
 * A table whose first column contains the row headers. On a phone every row becomes a block; the roles keep it a table for screen
 * readers.
 */
export function Table<T>({ caption, columns: all, rows, keyOf }: TableProps<T>): VNode {
  const mayUse = useMayUse();
  const columns = all.filter(({ leadsTo }) => !leadsTo || !rows[0] || mayUse(...leadsTo(rows[0])));
  return (
    <table class="list" role="table">
      <caption class="visually-hidden">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ head, isNumber }) => (
            <th scope="col" role="columnheader" class={isNumber ? 'number' : undefined}>
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr role="row" data-key={keyOf?.(row)}>
            {columns.map(({ head, cell, isNumber }, n) =>
              n === 0 ? (
                <th scope="row" role="rowheader">
                  {cell(row)}
                </th>
              ) : (
                <td role="cell" data-head={head} class={isNumber ? 'number' : undefined}>
                  <div class="cell">{cell(row)}</div>
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export interface PagedTableProps<T> extends Omit<TableProps<T>, 'rows'> {
  page: Page<T>;
  /** Path of the list, with its filters. */
  path: string;
  /** Shown if the list is empty. */
  empty: string;
  labels?: { previous: string; next: string };
}

/** One page of a list, with links to the previous and next page. */
export function PagedTable<T extends { id: string }>(props: PagedTableProps<T>): VNode {
  const { page, path, empty, labels, ...table } = props;
  return (
    <PagedList page={page} path={path} empty={empty} labels={labels} label={`More: ${table.caption}`}>
      <Table {...table} rows={page.items} />
    </PagedList>
  );
}
