import { batched } from '../../src/database/batched.js';

/** A statement that answers when it is told to, and remembers which keys it was run with. */
function heldStatement() {
  const batches: { keys: readonly number[]; answer: () => void; fail: (error: Error) => void }[] = [];
  const run = (keys: readonly number[]) =>
    new Promise<string[]>((resolve, reject) => {
      batches.push({ keys, answer: () => resolve(keys.map((key) => `row ${key}`)), fail: reject });
    });
  return { batches, find: batched(run) };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
const turns = async () => {
  for (let n = 0; n < 5; n++) await turn();
};

describe('calls that wait together', () => {
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
  afterEach(() => void jest.useRealTimers());

  it('run in one statement each gets its own result of, in any order', async () => {
    const { batches, find } = heldStatement();
    const results = Promise.all([find(3), find(1), find(2)]);
    await turns();
    expect(batches.map(({ keys }) => keys)).toEqual([[3, 1, 2]]);
    batches[0]!.answer();
    expect(await results).toEqual(['row 3', 'row 1', 'row 2']);
  });

  it('a key that is asked for twice at once has two results', async () => {
    const { batches, find } = heldStatement();
    const results = Promise.all([find(1), find(1)]);
    await turns();
    batches[0]!.answer();
    expect(await results).toEqual(['row 1', 'row 1']);
  });

  it('while a statement is under way, all that comes waits for the next one', async () => {
    const { batches, find } = heldStatement();
    const results = [find(1)];
    await turns();
    for (const key of [2, 3, 4]) {
      results.push(find(key));
      await turns();
    }
    expect(batches.map(({ keys }) => keys)).toEqual([[1]]);
    batches[0]!.answer();
    await turns();
    expect(batches.map(({ keys }) => keys)).toEqual([[1], [2, 3, 4]]);
    batches[1]!.answer();
    expect(await Promise.all(results)).toEqual(['row 1', 'row 2', 'row 3', 'row 4']);
  });

  describe('behind a statement that waits for something', () => {
    it('go along after 20 ms, and those after them wait for their own alone', async () => {
      const { batches, find } = heldStatement();
      const results = [find(1)];
      await turns();
      results.push(find(2), find(3));
      await turns();
      jest.advanceTimersByTime(19);
      await turns();
      expect(batches.map(({ keys }) => keys)).toEqual([[1]]);
      jest.advanceTimersByTime(1);
      await turns();
      expect(batches.map(({ keys }) => keys)).toEqual([[1], [2, 3]]);
      results.push(find(4));
      await turns();
      expect(batches).toHaveLength(2);
      batches[1]!.answer();
      await turns();
      expect(batches.map(({ keys }) => keys)).toEqual([[1], [2, 3], [4]]);
      for (const { answer } of batches) answer();
      expect(await Promise.all(results)).toEqual(['row 1', 'row 2', 'row 3', 'row 4']);
    });

    it('four wait at the most; the next follows whichever ends first', async () => {
      const { batches, find } = heldStatement();
      const results: Promise<unknown>[] = [];
      for (let key = 1; key <= 6; key++) {
        results.push(find(key));
        await turns();
        jest.advanceTimersByTime(20);
        await turns();
      }
      expect(batches.map(({ keys }) => keys)).toEqual([[1], [2], [3], [4]]);
      batches[2]!.answer();
      await turns();
      expect(batches.map(({ keys }) => keys)).toEqual([[1], [2], [3], [4], [5, 6]]);
      for (const { answer } of batches) answer();
      await Promise.all(results);
      expect(jest.getTimerCount()).toBe(0);
    });
  });

  it('more than 200 are several statements', async () => {
    const { batches, find } = heldStatement();
    const results = Promise.all(Array.from({ length: 450 }, (_, key) => find(key)));
    await turns();
    while (batches.some(({ keys }) => keys.length > 0) && batches.length < 3) {
      for (const { answer } of batches) answer();
      await turns();
    }
    for (const { answer } of batches) answer();
    expect((await results)[449]).toBe('row 449');
    expect(batches.map(({ keys }) => keys.length)).toEqual([200, 200, 50]);
  });

  it('a statement that fails fails for those in it alone, and the next one runs', async () => {
    const { batches, find } = heldStatement();
    const first = Promise.allSettled([find(1), find(2)]);
    await turns();
    batches[0]!.fail(new Error('gone'));
    expect((await first).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    const second = find(3);
    await turns();
    batches[1]!.answer();
    expect(await second).toBe('row 3');
  });
});
