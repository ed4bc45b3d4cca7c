import type { Type } from '@nestjs/common';
import { pageRequestOf, PageQuery } from '#platform/http/api/page-query.js';
import { type Page, type PageRequest, eachOfList } from '#platform/database/queries/read-page.js';
import { attempt } from './form-attempt.js';
import type { FieldErrors } from '#platform/web/forms/field.js';
import { Form, queryStringOf } from '#platform/http/forms/form.js';
import { RequestValidationPipe } from '#platform/http/validation/validation.pipe.js';
import { csvOf, type CsvAnswer, type CsvColumns } from '#platform/http/page-routes/csv-answer.js';

const pipe = new RequestValidationPipe();

/** The values of the filter fields as typed; empty fields count as not sent. */
function typedFilter(url: string): Record<string, string | undefined> {
  const sent = [...new URLSearchParams(queryStringOf(url)).keys()];
  const form = Form.parse(queryStringOf(url));
  const members = sent.flatMap((name) => {
    const value = form.get(name);
    return value === undefined ? [] : [[name, value.trim()] as const];
  });
  return Object.fromEntries(members);
}

/** Validates the query of a list by the rules of the admin API's DTO. */
export const listQuery = async <T extends object>(dto: Type<T>, url: string): Promise<T> =>
  (await pipe.transform(typedFilter(url), { type: 'query', metatype: dto })) as T;

/** The page of a list without a filter. */
export const pageIn = async (url: string): Promise<PageRequest> =>
  pageRequestOf(await listQuery(PageQuery, url));

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

/** The list as a file, filtered by the URL; throws a 400 problem for an invalid filter. */
export async function exportedList<Query extends PageQuery, T extends { id: string }>(
  name: string,
  columns: CsvColumns<T>,
  dto: Type<Query>,
  url: string,
  read: (query: Query, page: PageRequest) => Promise<Page<T>>,
): Promise<CsvAnswer> {
  const query = await listQuery(dto, url);
  return csvOf(name, columns, await eachOfList((page) => read(query, page)));
}
