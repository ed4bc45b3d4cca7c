import type { ComponentChildren, VNode } from 'preact';
import { ErrorNotice } from '../../../http/pages/notices.js';
import { NothingHere, Pager } from '../../../http/pages/pager.js';
import type { Page } from '../../../http/paging.js';
import type { FieldErrors } from '../form-attempt.js';

export interface Column<T> {
  head: string;
  cell: (row: T) => ComponentChildren;
  /** Numbers are right-aligned. */
  isNumber?: boolean;
}

export interface TableProps<T> {
  /** What the table shows, for screen readers. */
  caption: string;
  columns: Column<T>[];
  rows: T[];
}

/**
 * A table whose first column contains the row headers. On a phone every row becomes a block; the roles keep it a table for screen
 * readers.
 */
export function Table<T>({ caption, columns, rows }: TableProps<T>): VNode {
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
          <tr role="row">
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
  /** The id of a row, for the links to other pages. */
  idOf: (row: T) => string;
  /** Path of the list, with its filters. */
  path: string;
  /** Shown if the list is empty. */
  empty: string;
  words?: { previous: string; next: string };
}

/** One page of a list, with links to the previous and next page. */
export function PagedTable<T>({ page, idOf, path, empty, words, ...table }: PagedTableProps<T>): VNode {
  const ids = { ...page, items: page.items.map((row) => ({ id: idOf(row) })) };
  return (
    <>
      {page.items.length === 0 ? (
        <NothingHere page={page} path={path} words={empty} />
      ) : (
        <Table {...table} rows={page.items} />
      )}
      <Pager page={ids} path={path} label={`More: ${table.caption}`} words={words} />
    </>
  );
}

export const NEXT_PREVIOUS = { previous: 'Previous', next: 'Next' };

/** The path with those parameters that have a value. */
export function pathWith(path: string, parameters: Record<string, string | undefined>): string {
  const given = Object.entries(parameters).filter((pair): pair is [string, string] => !!pair[1]);
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
}

/** A form that filters a list; it changes nothing, so it is sent by GET. */
export function FilterForm({
  path,
  submit = 'Filter',
  isFiltered,
  errors,
  children,
}: {
  path: string;
  submit?: string;
  isFiltered: boolean;
  errors?: FieldErrors;
  children: ComponentChildren;
}): VNode {
  return (
    <>
      {errors && <ErrorNotice>The list is not shown: the filter is invalid.</ErrorNotice>}
      <form method="get" action={path} class="filters">
        {children}
        <div class="filter-buttons">
          <button type="submit">{submit}</button>
          {(isFiltered || errors) && <a href={path}>Show all</a>}
        </div>
      </form>
    </>
  );
}

/** A state as a word, never indicated by colour alone. */
export function State({
  tone,
  children,
}: {
  tone: 'good' | 'bad' | 'warn' | 'plain';
  children: string;
}): VNode {
  return <span class={`state state-${tone}`}>{children}</span>;
}

export const Enabled = ({ enabled }: { enabled: boolean }): VNode =>
  enabled ? <State tone="good">Enabled</State> : <State tone="bad">Disabled</State>;

/** An id in copyable form. */
export const Id = ({ id }: { id: string }): VNode => <code class="id">{id}</code>;

/** Several short words, each in its own element. */
export const Words = ({ words, none = 'none' }: { words: string[]; none?: string }): VNode =>
  words.length === 0 ? (
    <span class="muted">{none}</span>
  ) : (
    <>
      {words.map((word, n) => (
        <>
          {n > 0 && ', '}
          <span>{word}</span>
        </>
      ))}
    </>
  );
