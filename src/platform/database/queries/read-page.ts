import type { ObjectLiteral, SelectQueryBuilder } from 'typeorm';

/**
 * A condition as the arguments of a query builder's `where`: one of the columns contains the text, case-insensitively, or `id` equals
 * the text.
 */
export function searchFor(text: string, alias: string, columns: string[]): [string, Record<string, string>] {
  const conditions = columns.map((column) => `${alias}.${column} ILIKE :searchPattern`);
  return [
    `(${conditions.join(' OR ')} OR ${alias}.id = :searchId)`,
    { searchPattern: patternOf(text), searchId: text },
  ];
}

/** A pattern of ILIKE for what contains the text. */
export const patternOf = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;

/** How many rows the query finds, counted up to a limit. */
export async function countUpTo(limit: number, query: SelectQueryBuilder<ObjectLiteral>): Promise<number> {
  const counted = await query
    .createQueryBuilder()
    .select('count(*)::int', 'count')
    .from(`(${query.select('1').limit(limit).getQuery()})`, 'found')
    .setParameters(query.getParameters())
    .getRawOne<{ count: number }>();
  return counted!.count;
}

/** Limits in SQL are rounded up to these, because every limit is a separate statement. One more than the usual page sizes. */
const LIMITS = [1, 2, 26, 51, 101];

/** Which part of a list to read: rows on one side of an id, one more than requested to see whether there is another page. */
export interface PageRequest {
  size: number;
  after?: string;
  before?: string;
  /** Nobody goes back from this page: whether there are rows before it is not read. */
  onlyForward?: boolean;
}

export interface Page<T> {
  items: T[];
  /** Whether there are items after the last one, and before the first one, in the order of the list. */
  hasNext: boolean;
  hasPrevious: boolean;
}

/**
 * A search looks first at so many rows of the list for each that it wants, which finds what one in a hundred has. What is rarer is then
 * read as a whole by the index of the search, and sorted. PostgreSQL would decide between the two by a sample of the rows: if a rare
 * name is in that, it takes the name for a frequent one, and reads the list to its end.
 */
const LOOKED_AT_FIRST = 100;

/** A part of a list: its rows on one side of an id, in an order, up to a number. */
interface Part {
  comparison: '>' | '<' | '>=' | '<=';
  from: string | undefined;
  ascending: boolean;
  limit: number;
  /** `nearest`: only among the rows that come first; `sorted`: all rows, without the index of the order. */
  reach: 'all' | 'nearest' | 'sorted';
}

/**
 * A part of a list as SQL: a condition, and an order with a limit. Its parameters are appended to `params`; `name` distinguishes
 * its SQL text from that of other parts.
 */
export type PartSql = (params: unknown[]) => { where: string; orderAndLimit: string; name: string };

/**
 * Reads a page of a query ordered by a unique text column, such as `client.id`, ascending (`asc`) or newest first (`desc`). The
 * query has no order and no limit of its own. `isSearch`: it has a condition of `searchFor`.
 */
export function readPage<T extends ObjectLiteral>(
  page: PageRequest,
  column: string,
  direction: 'asc' | 'desc',
  query: SelectQueryBuilder<T>,
  { isSearch = false } = {},
): Promise<Page<T>> {
  const { tablePath } = query.expressionMap.mainAlias!.metadata;
  return readParts(page, direction, isSearch, (part) => {
    const { comparison, from, ascending, limit, reach } = part;
    const rows = query.clone().limit(limit);
    if (from !== undefined) rows.andWhere(`${column} ${comparison} :pageFrom`, { pageFrom: from });
    if (reach === 'nearest') rows.andWhere(nearest(tablePath, column, part, ':pageFrom'));
    if (reach === 'sorted') rows.addSelect(unindexed(column), 'unindexed');
    return rows.orderBy(reach === 'sorted' ? 'unindexed' : column, ascending ? 'ASC' : 'DESC').getMany();
  });
}

/** The same for a query in SQL, which `read` runs for one part. `searched`: the table, if the query has a condition with `patternOf`. */
export function readPageBySql<T>(
  page: PageRequest,
  column: string,
  direction: 'asc' | 'desc',
  read: (part: PartSql) => Promise<T[]>,
  searched?: string,
): Promise<Page<T>> {
  return readParts(page, direction, searched !== undefined, async (part) => {
    const { comparison, from, ascending, limit, reach } = part;
    const rounded = LIMITS.find((each) => each >= limit) ?? limit;
    const rows = await read((params) => {
      const place = from === undefined ? '' : `$${params.push(from)}`;
      const side = from === undefined ? 'true' : `${column} ${comparison} ${place}`;
      return {
        where: reach === 'nearest' ? `${side} AND ${nearest(searched!, column, part, place)}` : side,
        // The limit is not a parameter: for an unknown limit, PostgreSQL plans as if a tenth of the list were read.
        orderAndLimit: `ORDER BY ${reach === 'sorted' ? unindexed(column) : column} ${ascending ? 'ASC' : 'DESC'} LIMIT ${rounded}`,
        name: `${from === undefined ? '' : `${comparison} `}${ascending ? 'rising' : 'falling'} ${rounded}`,
      };
    });
    return rows.slice(0, limit);
  });
}

/** The same order, for which there is no index. */
const unindexed = (column: string): string => `${column} || ''`;

/** The condition that a row is among those that come first on this side of `from`. */
function nearest(table: string, column: string, part: Part, place: string): string {
  const { comparison, from, ascending, limit } = part;
  const name = column.split('.').at(-1)!;
  const side = from === undefined ? 'true' : `${name} ${comparison} ${place}`;
  const last = `SELECT ${name} FROM ${table} WHERE ${side} ORDER BY ${name} ${ascending ? 'ASC' : 'DESC'} OFFSET ${LOOKED_AT_FIRST * limit} LIMIT 1`;
  const end = `SELECT ${ascending ? 'max' : 'min'}(${name}) FROM ${table}`;
  return `${column} ${ascending ? '<=' : '>='} coalesce((${last}), (${end}))`;
}

/** Reads the page, and if it starts at an id, one row on the other side of that id. */
async function readParts<T>(
  page: PageRequest,
  direction: 'asc' | 'desc',
  isSearch: boolean,
  readWithin: (part: Part) => Promise<T[]>,
): Promise<Page<T>> {
  const read = async (part: Omit<Part, 'reach'>): Promise<T[]> => {
    if (!isSearch) return readWithin({ ...part, reach: 'all' });
    const found = await readWithin({ ...part, reach: 'nearest' });
    return found.length >= part.limit ? found : readWithin({ ...part, reach: 'sorted' });
  };
  const backwards = page.before !== undefined;
  const rising = (direction === 'asc') !== backwards;
  const from = page.after ?? page.before;
  const [rows, behind] = await Promise.all([
    read({ comparison: rising ? '>' : '<', from, ascending: rising, limit: page.size + 1 }),
    from === undefined || page.onlyForward
      ? []
      : read({ comparison: rising ? '<=' : '>=', from, ascending: !rising, limit: 1 }),
  ]);
  const more = rows.length > page.size;
  const items = rows.slice(0, page.size);
  if (backwards) return { items: items.reverse(), hasNext: behind.length > 0, hasPrevious: more };
  return { items, hasNext: more, hasPrevious: behind.length > 0 };
}

const AT_ONCE = 100;
/** More rows than people look at, or than such a list usually has. */
const EXPORTED_MAX = 10_000;

/**
 * The items of a list from its beginning, up to `EXPORTED_MAX`, read page by page as they are consumed; the first page at once.
 */
export async function eachOfList<T extends { id: string }>(
  read: (page: PageRequest) => Promise<Page<T>>,
): Promise<AsyncIterable<T>> {
  const first = await read({ size: AT_ONCE });
  return (async function* () {
    let [page, count] = [first, 0];
    for (;;) {
      yield* page.items;
      count += page.items.length;
      if (!page.hasNext || count >= EXPORTED_MAX) return;
      page = await read({ size: AT_ONCE, after: page.items.at(-1)!.id, onlyForward: true });
    }
  })();
}
