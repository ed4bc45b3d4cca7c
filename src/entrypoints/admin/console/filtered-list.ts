import type { Type } from '@nestjs/common';
import { pageRequestOf, type PageQuery } from '#platform/http/api/page-query.js';
import type { Page, PageRequest } from '#platform/database/queries/read-page.js';
import { attempt } from './form-attempt.js';
import type { FieldErrors } from '#platform/web/forms/field.js';
import { listQuery, typedFilter } from './list-query.js';

/** The members of the query that select the page. */
const OF_PAGES: readonly string[] = ['page_size', 'page_after', 'page_before'] satisfies (keyof PageQuery)[];

/** One page of a list and its filter as typed; without the page if the filter is invalid. */
export interface FilteredList<T> {
  filter: Record<string, string | undefined>;
  page?: Page<T>;
  errors?: FieldErrors;
}

/** Reads a list, filtered by the URL with the rules of the admin API. */
export async function filteredList<Query extends PageQuery, T>(
  dto: Type<Query>,
  url: string,
  read: (query: Query, page: PageRequest) => Promise<Page<T>>,
): Promise<FilteredList<T>> {
  const typed = Object.entries(typedFilter(url));
  const filter = Object.fromEntries(typed.filter(([name]) => !OF_PAGES.includes(name)));
  const { result: query, errors } = await attempt(() => listQuery(dto, url));
  return errors ? { filter, errors } : { filter, page: await read(query, pageRequestOf(query)) };
}
