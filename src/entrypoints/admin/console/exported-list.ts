import type { Type } from '@nestjs/common';
import { type Page, type PageRequest, eachOfList } from '#platform/database/queries/read-page.js';
import type { PageQuery } from '#platform/http/api/page-query.js';
import { csvOf, type CsvAnswer, type CsvColumns } from '#platform/http/page-routes/csv-answer.js';
import { listQuery } from './list-query.js';

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
