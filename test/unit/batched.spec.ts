import { AsyncLocalStorage } from 'node:async_hooks';
import { batched } from '#platform/database/queries/batched.js';

/** A statement that answers on demand and records the keys of each run. */
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

describe('batched calls', () => {
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
  afterEach(() => void jest.useRealTimers());

  it('run in one statement and each get their own result, in any order', async () => {
    const { batches, find } = heldStatement();
    const results = Promise.all([find(3), find(1), find(2)]);
    await turns();
    expect(batches.map(({ keys }) => keys)).toEqual([[3, 1, 2]]);
    batches[0]!.answer();
    expect(await results).toEqual(['row 3', 'row 1', 'row 2']);
  });

  it('get two results for a key that is requested twice at once', async () => {
    const { batches, find } = heldStatement();
    const results = Promise.all([find(1), find(1)]);
    await turns();
    batches[0]!.answer();
    expect(await results).toEqual(['row 1', 'row 1']);
  });

  it('run in the async context of the first call of their statement, not of the statement before', async () => {
    const caller = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const find = batched(async (keys: readonly number[]) => {
      seen.push([caller.getStore(), keys.length]);
      await turn();
      return keys;
    });
    const first = caller.run('first', () => find(1));
    await turn();
    const others = ['second', 'third'].map((name, n) => caller.run(name, () => find(n)));
    await Promise.all([first, ...others]);
    expect(seen).toEqual([
      ['first', 1],
      ['second', 2],
    ]);
  });

  it('wait for the next statement while one is under way', async () => {
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

  describe('behind a slow statement', () => {
    it('run after 20 ms, and later calls wait only for that second statement', async () => {
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

    it('run in at most four statements at a time; the next follows the first that ends', async () => {
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
      // What other code of the process waits for is not looked at: nothing of these calls runs later.
      jest.advanceTimersByTime(20);
      await turns();
      expect(batches).toHaveLength(5);
    });
  });

  it('are split into several statements above 200', async () => {
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

  it('fail only with their own statement, and the next statement runs', async () => {
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
