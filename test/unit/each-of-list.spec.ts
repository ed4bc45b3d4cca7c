import { type PageRequest, eachOfList } from '#platform/database/queries/read-page.js';

/** A list of so many items, and how often it was read. */
function listOf(length: number) {
  const read = jest.fn(({ size, after = '0' }: PageRequest) => {
    const first = Number(after) + 1;
    const count = Math.min(size, length - first + 1);
    const items = Array.from({ length: count }, (_, n) => ({ id: String(first + n) }));
    return Promise.resolve({ items, hasNext: first + count <= length, hasPrevious: after !== '0' });
  });
  return read;
}

describe('A list that is read to its end', () => {
  it.each([
    [0, 1],
    [1, 1],
    [100, 1],
    [101, 2],
    [250, 3],
  ])('of %i items is read in %i pages', async (length, pages) => {
    const read = listOf(length);
    const found: string[] = [];
    for await (const { id } of await eachOfList(read)) found.push(id);
    expect(found).toEqual(Array.from({ length }, (_, n) => String(n + 1)));
    expect(read).toHaveBeenCalledTimes(pages);
  });

  it('ends after 10,000 items, and is read no further than it is used', async () => {
    const read = listOf(1_000_000);
    let last = '';
    for await (const { id } of await eachOfList(read)) last = id;
    expect(last).toBe('10000');
    const cut = listOf(1_000_000);
    for await (const { id } of await eachOfList(cut)) if (id === '150') break;
    expect(cut).toHaveBeenCalledTimes(2);
  });
});
