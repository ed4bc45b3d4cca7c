import type { Page, PageRequest } from './read-page.js';

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
