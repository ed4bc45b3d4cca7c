import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsInt, IsOptional, Matches, Max, Min } from 'class-validator';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import { optional, text, whole } from './api-schemas.js';
import { badRequest } from './problem.js';

const ID = /^[a-z]{4}[0-9A-HJKMNP-TV-Z]{26}$/;
const DEFAULT_PAGE_SIZE = 25;
/** Limits in SQL are rounded up to these, because every limit is a statement of its own. One more than the usual page sizes. */
const LIMITS = [1, 2, DEFAULT_PAGE_SIZE + 1, 51, 101];

/** The query of every list (contract §1): `page_size` from 1 to 100, and one of `page_after` and `page_before` (ids). */
export class PageQuery {
  @IsOptional()
  @Transform(({ value }) => (typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value))
  @IsInt({ message: 'must be a whole number from 1 to 100' })
  @Min(1, { message: 'must be a whole number from 1 to 100' })
  @Max(100, { message: 'must be a whole number from 1 to 100' })
  @ApiProperty(optional(whole(undefined, { minimum: 1, maximum: 100, default: DEFAULT_PAGE_SIZE })))
  page_size?: number;

  @IsOptional()
  @Matches(ID, { message: 'must be the id of a list member' })
  @ApiProperty(optional(text('The id of the item before the page.', { pattern: ID.source })))
  page_after?: string;

  @IsOptional()
  @Matches(ID, { message: 'must be the id of a list member' })
  @ApiProperty(optional(text('The id of the item after the page.', { pattern: ID.source })))
  page_before?: string;
}

/** Which part of a list to read: rows on one side of an id, one more than requested to see whether there is another page. */
export interface PageRequest {
  size: number;
  after?: string;
  before?: string;
}

export interface Page<T> {
  items: T[];
  /** Whether there are items after the last one, and before the first one, in the order of the list. */
  hasNext: boolean;
  hasPrevious: boolean;
}

export function pageRequestOf(query: PageQuery): PageRequest {
  if (query.page_after !== undefined && query.page_before !== undefined) {
    throw badRequest('Send page_after or page_before, not both.');
  }
  return { size: query.page_size ?? DEFAULT_PAGE_SIZE, after: query.page_after, before: query.page_before };
}

/** A part of a list: its rows on one side of an id, in an order, up to a number. */
interface Part {
  comparison: '>' | '<' | '>=' | '<=';
  from: string | undefined;
  ascending: boolean;
  limit: number;
}

/**
 * A part of a list as SQL: a condition, and an order with a limit. Its parameters are appended to `params`; `name` distinguishes
 * its SQL text from that of other parts.
 */
export type PartSql = (params: unknown[]) => { where: string; orderAndLimit: string; name: string };

/**
 * Reads a page of a query ordered by a unique text column, such as `client.id`, ascending (`asc`) or newest first (`desc`). The
 * query has no order and no limit of its own.
 */
export function readPage<T extends ObjectLiteral>(
  page: PageRequest,
  column: string,
  direction: 'asc' | 'desc',
  query: SelectQueryBuilder<T>,
): Promise<Page<T>> {
  return readParts(page, direction, ({ comparison, from, ascending, limit }) => {
    const part = query
      .clone()
      .orderBy(column, ascending ? 'ASC' : 'DESC')
      .limit(limit);
    return (
      from === undefined ? part : part.andWhere(`${column} ${comparison} :pageFrom`, { pageFrom: from })
    ).getMany();
  });
}

/** The same for a query in SQL, which `read` runs for one part. */
export function readPageBySql<T>(
  page: PageRequest,
  column: string,
  direction: 'asc' | 'desc',
  read: (part: PartSql) => Promise<T[]>,
): Promise<Page<T>> {
  return readParts(page, direction, async ({ comparison, from, ascending, limit }) => {
    const rounded = LIMITS.find((each) => each >= limit) ?? limit;
    const rows = await read((params) => ({
      where: from === undefined ? 'true' : `${column} ${comparison} $${params.push(from)}`,
      // The limit is not a parameter: for an unknown limit, PostgreSQL plans as if a tenth of the list were read.
      orderAndLimit: `ORDER BY ${column} ${ascending ? 'ASC' : 'DESC'} LIMIT ${rounded}`,
      name: `${from === undefined ? '' : `${comparison} `}${ascending ? 'rising' : 'falling'} ${rounded}`,
    }));
    return rows.slice(0, limit);
  });
}

/** Reads the page, and if it starts at an id, one row on the other side of that id. */
async function readParts<T>(
  page: PageRequest,
  direction: 'asc' | 'desc',
  read: (part: Part) => Promise<T[]>,
): Promise<Page<T>> {
  const backwards = page.before !== undefined;
  const rising = (direction === 'asc') !== backwards;
  const from = page.after ?? page.before;
  const [rows, behind] = await Promise.all([
    read({ comparison: rising ? '>' : '<', from, ascending: rising, limit: page.size + 1 }),
    from === undefined ? [] : read({ comparison: rising ? '<=' : '>=', from, ascending: !rising, limit: 1 }),
  ]);
  const more = rows.length > page.size;
  const items = rows.slice(0, page.size);
  if (backwards) return { items: items.reverse(), hasNext: behind.length > 0, hasPrevious: more };
  return { items, hasNext: more, hasPrevious: behind.length > 0 };
}

/** Sets the `Link` header (RFC 8288) with absolute URLs; omits pages that do not exist. */
export function setPageLinks<T>(
  request: FastifyRequest,
  reply: FastifyReply,
  baseUrl: string,
  page: Page<T>,
  idOf: (item: T) => string,
): void {
  const link = (rel: string, parameter: string, item: T): string => {
    const url = new URL(baseUrl + request.url);
    url.searchParams.delete('page_after');
    url.searchParams.delete('page_before');
    url.searchParams.set(parameter, idOf(item));
    return `<${url.href}>; rel="${rel}"`;
  };
  const first = page.items[0];
  const last = page.items.at(-1);
  const links = [
    ...(page.hasNext && last !== undefined ? [link('next', 'page_after', last)] : []),
    ...(page.hasPrevious && first !== undefined ? [link('previous', 'page_before', first)] : []),
  ];
  if (links.length > 0) void reply.header('link', links.join(', '));
}
