import fc from 'fast-check';
import { linkHeader, listAnswer } from '#platform/http/api/list-answer.js';
import { PageQuery, pageRequestOf } from '#platform/http/api/page-query.js';
import {
  readPageBySql,
  type PartSql,
  type Page,
  type PageRequest,
} from '#platform/database/queries/read-page.js';
import { Problem } from '#platform/http/problems/problem.js';
import { RequestValidationPipe } from '#platform/http/validation/validation.pipe.js';

const ID = 'user01HN2NJ9NMRZBXT1H6FT9N7735';
const BASE_URL = 'https://auth.example';

const read = async (query: unknown): Promise<PageRequest> =>
  pageRequestOf(
    (await new RequestValidationPipe().transform(query, { type: 'query', metatype: PageQuery })) as PageQuery,
  );

/** The ids that a database with these ids returns for a part's SQL. */
function select(ids: string[], part: PartSql): string[] {
  const params: unknown[] = [];
  const { where, orderAndLimit } = part(params);
  const comparison = /^id ([<>]=?) \$(\d)$/.exec(where);
  if (!comparison) expect(where).toBe('true');
  const from = comparison ? (params[Number(comparison[2]) - 1] as string) : '';
  const order = /^ORDER BY id (ASC|DESC) LIMIT (\d+)$/.exec(orderAndLimit)!;
  const tests: Record<string, (id: string) => boolean> = {
    '>': (id) => id > from,
    '<': (id) => id < from,
    '>=': (id) => id >= from,
    '<=': (id) => id <= from,
  };
  const found = ids.filter((id) => !comparison || tests[comparison[1]!]!(id)).sort();
  return (order[1] === 'ASC' ? found : found.reverse()).slice(0, Number(order[2]));
}

const pageOf = (ids: string[], page: PageRequest, direction: 'asc' | 'desc'): Promise<Page<string>> =>
  readPageBySql(page, 'id', direction, (part) => Promise.resolve(select(ids, part)));

const itself = (id: string): string => id;
const linksOf = (url: string, page: Page<string>): string | undefined =>
  linkHeader(BASE_URL + url, listAnswer(page, itself, itself));

describe('paging', () => {
  it.each([
    ['page_size', ['0', '101', '-1', '1.5', '1e1', '', ' 5', '٣', 'x', '9'.repeat(30), ['1', '2']]],
    ['page_after', ['', 'x', ID.toLowerCase(), `${ID}0`, `${ID}\n`, "' OR 1=1 --", [ID, ID]]],
    ['page_before', ['', 'user', `${ID} `, '%', { a: ID }]],
    ['page', ['1']],
  ])('refuses an invalid %s, and names the parameter', async (name, values) => {
    for (const value of values) {
      const problem: Problem = await read({ [name]: value }).then(
        () => {
          throw new Error(`accepted ${JSON.stringify(value)}`);
        },
        (error: unknown) => error as Problem,
      );
      expect(problem).toBeInstanceOf(Problem);
      expect([problem.status, Object.keys(problem.extras.violations ?? {})]).toEqual([400, [name]]);
    }
  });

  it('refuses to page in both directions at once', async () => {
    await expect(read({ page_after: ID, page_before: ID })).rejects.toMatchObject({ status: 400 });
  });

  it('never throws anything but a problem, and accepts only sizes from 1 to 100', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.constantFrom('page_size', 'page_after', 'page_before'), fc.string()),
        async (query) => {
          const result = await read(query).catch((error: unknown) => error);
          if (result instanceof Problem) return result.status === 400;
          const { size } = result as PageRequest;
          return Number.isInteger(size) && size >= 1 && size <= 100;
        },
      ),
    );
  });

  it('returns 25 members by default, and from 1 to 100 on request', async () => {
    expect(await read({})).toEqual({ size: 25 });
    expect(await read({ page_size: '1', page_after: ID })).toEqual({ size: 1, after: ID });
    expect(await read({ page_size: '100', page_before: ID })).toEqual({ size: 100, before: ID });
  });

  it('visits every member once, forwards and backwards, for both orders of a list', async () => {
    const lists = fc.uniqueArray(fc.stringMatching(/^[0-9A-Z]{4}$/), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(
        lists,
        fc.integer({ min: 1, max: 8 }),
        fc.constantFrom('asc' as const, 'desc' as const),
        async (ids, size, direction) => {
          const all = direction === 'asc' ? [...ids].sort() : [...ids].sort().reverse();
          const pages: Page<string>[] = [];
          let request: PageRequest | undefined = { size };
          while (request) {
            const page: Page<string> = await pageOf(ids, request, direction);
            expect(page.hasPrevious).toBe(pages.length > 0);
            pages.push(page);
            request = page.hasNext ? { size, after: page.items.at(-1) } : undefined;
          }
          expect(pages.flatMap((page) => page.items)).toEqual(all);
          for (let n = pages.length - 1; n > 0; n--) {
            const back: PageRequest = { size, before: pages[n]!.items[0] };
            const page = await pageOf(ids, back, direction);
            expect(page).toEqual({ items: pages[n - 1]!.items, hasNext: true, hasPrevious: n > 1 });
          }
        },
      ),
    );
  });

  it('reads lists with few different statements, whatever the page size', async () => {
    const texts = new Map<string, string>();
    for (const from of [{}, { after: ID }, { before: ID }]) {
      for (let size = 1; size <= 100; size++) {
        await readPageBySql({ size, ...from }, 'id', 'asc', (part) => {
          const { where, orderAndLimit, name } = part([]);
          const text = `${where} ${orderAndLimit}`;
          expect(texts.get(name) ?? text).toBe(text);
          texts.set(name, text);
          return Promise.resolve([]);
        });
      }
    }
    expect(new Set(texts.values()).size).toBe(texts.size);
    expect(texts.size).toBeLessThan(20);
  });

  it('returns absolute links, keeps the other parameters, and leaves out pages that do not exist', () => {
    const items = ['user1', 'user2'];
    const url = '/v2/users?page_size=2&q=a%26b&page_after=x&page_before=y';
    expect(linksOf(url, { items, hasNext: false, hasPrevious: false })).toBeUndefined();
    expect(linksOf(url, { items: [], hasNext: true, hasPrevious: true })).toBeUndefined();
    expect(linksOf(url, { items, hasNext: true, hasPrevious: true })).toBe(
      `<${BASE_URL}/v2/users?page_size=2&q=a%26b&page_after=user2>; rel="next", ` +
        `<${BASE_URL}/v2/users?page_size=2&q=a%26b&page_before=user1>; rel="previous"`,
    );
  });

  it('lets no part of the URL break out of a link', () => {
    const query = fc.string({ unit: fc.constantFrom('<', '>', '"', ',', ';', 'a', '%3e', '\\', "'") });
    fc.assert(
      fc.property(query, (text) => {
        const link = linksOf(`/v2/users?q=${text}`, { items: ['user1'], hasNext: true, hasPrevious: false });
        return /^<https:\/\/auth\.example\/v2\/users\?[^<>"\s]*>; rel="next"$/.test(link!);
      }),
    );
  });
});
