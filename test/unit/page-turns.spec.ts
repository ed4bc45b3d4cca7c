import { setImmediate as nextTurn } from 'node:timers/promises';
import { inTurns, PageTurns } from '#platform/http/page-routes/page-turns.js';

/** What a part of the work on a page takes, and what everything else takes in a turn of the event loop, in milliseconds. */
const [PART, OTHERS] = [10, 4];

describe('the work on pages', () => {
  /** The time that the pages see. */
  let now = 0;
  beforeEach(() => void jest.spyOn(performance, 'now').mockImplementation(() => now));
  afterEach(() => jest.restoreAllMocks());

  /** Lets the event loop turn, with or without something else to do; returns in which of its turns a part was done. */
  const turnsOf = async (parts: number, others: number): Promise<number[]> => {
    const turns = new PageTurns();
    const done: number[] = [];
    let turn = 0;
    for (let n = 0; n < parts; n++) {
      void turns.take().then(() => {
        now += PART;
        done.push(turn);
      });
    }
    while (done.length < parts) {
      await nextTurn();
      now += others;
      turn++;
    }
    return done;
  };

  it('is done in parts, one in a turn of the event loop, if nothing else waits', async () => {
    expect(await turnsOf(4, 0)).toEqual([0, 1, 2, 3]);
  });

  it('leaves everything else as much time as it takes', async () => {
    const rest = Math.ceil(PART / OTHERS);
    expect(await turnsOf(3, OTHERS)).toEqual([0, rest, 2 * rest]);
  });

  it('is done in the order in which it came, also what comes while others wait', async () => {
    const turns = new PageTurns();
    const order: string[] = [];
    const last = turns.take().then(() => {
      order.push('first');
      return turns.take().then(() => order.push('third'));
    });
    void turns.take().then(() => order.push('second'));
    await last;
    expect(order).toEqual(['first', 'second', 'third']);
  });

  /** Begins three pages, of which each goes on in two parts; returns what was done, and what ends them. */
  const threePages = (turns: PageTurns) => {
    const done: string[] = [];
    const ends: (() => void)[] = [];
    for (const name of ['a', 'b', 'c']) {
      turns.whenItIsTime(async (end) => {
        ends.push(end);
        done.push(name);
        await turns.take();
        done.push(name);
      });
    }
    return { done, ends };
  };
  const until = async (isSo: () => boolean): Promise<void> => {
    while (!isSo()) await nextTurn();
  };

  it('is begun for one page after the other while the processor has much to do', async () => {
    const { done, ends } = threePages(new PageTurns());
    await until(() => done.length === 2);
    expect(done).toEqual(['a', 'a']);
    ends[0]!();
    // Only once.
    ends[0]!();
    await until(() => done.length === 4);
    expect(done).toEqual(['a', 'a', 'b', 'b']);
    ends[1]!();
    await until(() => done.length === 6);
    expect(done).toEqual(['a', 'a', 'b', 'b', 'c', 'c']);
  });

  it('is begun for the next page when this one takes too long', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    const { done } = threePages(new PageTurns());
    await until(() => done.length === 2);
    jest.advanceTimersByTime(99);
    for (let n = 0; n < 5; n++) await nextTurn();
    expect(done).toEqual(['a', 'a']);
    jest.advanceTimersByTime(1);
    await until(() => done.length === 4);
    jest.advanceTimersByTime(100);
    await until(() => done.length === 6);
    expect(done).toEqual(['a', 'a', 'b', 'b', 'c', 'c']);
    jest.useRealTimers();
  });

  it('on a file does not keep pages from beginning', async () => {
    const turns = new PageTurns();
    let isOver = false;
    const file = (async () => {
      while (!isOver) await turns.take();
    })();
    await nextTurn();
    turns.whenItIsTime(() => void (isOver = true));
    await file;
    expect(isOver).toBe(true);
  });

  it('counts with what it goes on to do at once', async () => {
    const turns = new PageTurns();
    const seen: number[] = [];
    const page = async () => {
      await turns.take();
      await Promise.resolve();
      now += PART;
    };
    const other = async () => {
      await turns.take();
      seen.push(now);
    };
    const both = Promise.all([page(), other()]);
    for (let n = 0; seen.length === 0; n++) {
      await nextTurn();
      now += OTHERS;
    }
    await both;
    expect(seen[0]!).toBeGreaterThanOrEqual(2 * PART);
  });

  it('is refused when a thousand pages wait', () => {
    const turns = new PageTurns();
    for (let n = 0; n < 999; n++) turns.whenItIsTime(() => undefined);
    expect(turns.areFull).toBe(false);
    turns.whenItIsTime(() => undefined);
    expect(turns.areFull).toBe(true);
  });

  it('of a large file gives way between its parts', async () => {
    async function* rows() {
      for (let n = 0; n < 10; n++) yield n;
    }
    const turns = new PageTurns();
    const taken = jest.spyOn(turns, 'take');
    const read: number[] = [];
    for await (const row of inTurns(turns, rows(), 4)) read.push(row);
    expect(read).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(taken).toHaveBeenCalledTimes(3);
  });
});
