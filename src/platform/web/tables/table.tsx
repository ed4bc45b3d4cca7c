import type { ComponentChildren, VNode } from 'preact';
import type { Page } from '#platform/database/queries/read-page.js';
import { useMayUse, type MayUse } from '../layout/may-use.js';
import { useText } from '../layout/say.js';
import { PagedList } from './pager.js';

export interface Column<T> {
  head: string;
  cell: (row: T) => ComponentChildren;
  /** Small print below it. On a phone the one of the first column is on the second line, and all others are left out. */
  under?: (row: T) => ComponentChildren;
  /** Numbers are right-aligned. */
  isNumber?: boolean;
  /**
   * Where a row of two lines has it on a phone: by default on the second one. `beside` is at the end of the first line, `named` is
   * on the second one after its head, as numbers are, `at-end` takes the end of both, and `unfolded` is left out until the row is
   * opened.
   */
  onPhone?: 'beside' | 'named' | 'at-end' | 'unfolded';
  /** What the cell of a row leads to: the column is left out for a visitor who may not use it. */
  leadsTo?: (row: T) => Parameters<MayUse>;
}

export interface TableProps<T> {
  /** What the table shows, for screen readers. */
  caption: string;
  /** The id of the heading above it, if that says the same. */
  labelledBy?: string;
  columns: Column<T>[];
  rows: T[];
  /** Names the rows of a list that a script updates. */
  keyOf?: (row: T) => string;
  /** Where there is room, a row is one line of 44 px; what does not fit is left out, and is on the row's page or in its details. */
  isOneLine?: boolean;
  /** For rows without a page of their own: on a phone a row unfolds and then shows everything. */
  unfolds?: boolean;
}

/**
 * A table whose first column contains the row headers. A row opens what its header leads to. On a phone a row has two lines; the
 * roles keep it a table for screen readers.
 */
export function Table<T>(props: TableProps<T>): VNode {
  const { caption, labelledBy, columns: all, rows, keyOf, isOneLine, unfolds } = props;
  const t = useText();
  const mayUse = useMayUse();
  const columns = all.filter(({ leadsTo }) => !leadsTo || !rows[0] || mayUse(...leadsTo(rows[0])));
  // For screen readers, what a row unfolds is described by its header.
  const headerId = (row: T, n: number): string | undefined =>
    unfolds ? `${caption.replaceAll(/\W+/g, '-')}-${keyOf?.(row) ?? n}` : undefined;
  return (
    <table class={isOneLine ? 'list one-line' : 'list'} role="table" aria-labelledby={labelledBy}>
      {!labelledBy && <caption class="visually-hidden">{caption}</caption>}
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ head, isNumber }) => (
            <th scope="col" role="columnheader" class={isNumber ? 'number' : undefined}>
              {head}
            </th>
          ))}
          {unfolds && (
            <th scope="col" role="columnheader" class="unfold">
              {t('More')}
            </th>
          )}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row, place) => (
          <tr role="row" data-key={keyOf?.(row)}>
            {columns.map((column, n) =>
              n === 0 ? (
                <th scope="row" role="rowheader" id={headerId(row, place)} data-head={column.head}>
                  <Cell column={column} row={row} />
                </th>
              ) : (
                <td role="cell" data-head={column.head} class={classOf(column)}>
                  <Cell column={column} row={row} />
                </td>
              ),
            )}
            {unfolds && (
              <td role="cell" class="unfold">
                <details>
                  <summary aria-label={t('More')} aria-describedby={headerId(row, place)} />
                </details>
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Cell<T>({ column: { cell, under }, row }: { column: Column<T>; row: T }): VNode {
  const small = under?.(row);
  return (
    <>
      <div class="cell">{cell(row)}</div>
      {small && <div class="under">{small}</div>}
    </>
  );
}

/** `second`: it is on the second line of a phone. */
const classOf = <T,>({ isNumber, onPhone = isNumber ? 'named' : undefined }: Column<T>): string =>
  [isNumber && 'number', onPhone, (!onPhone || onPhone === 'named') && 'second'].filter(Boolean).join(' ');

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
