import type { ObjectLiteral, SelectQueryBuilder } from 'typeorm';

/** Limits in SQL are rounded up to these, because every limit is a separate statement. One more than the usual page sizes. */
const LIMITS = [1, 2, 26, 51, 101];

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
