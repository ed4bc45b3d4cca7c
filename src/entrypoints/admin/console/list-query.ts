import type { Type } from '@nestjs/common';
import { Form, queryStringOf } from '#platform/http/forms/form.js';
import { PageQuery, pageRequestOf } from '#platform/http/api/page-query.js';
import type { PageRequest } from '#platform/database/queries/read-page.js';
import { RequestValidationPipe } from '#platform/http/validation/validation.pipe.js';

const pipe = new RequestValidationPipe();

/** The values of the filter fields as typed; empty fields count as not sent. */
export function typedFilter(url: string): Record<string, string | undefined> {
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
