import { setImmediate as nextTurn } from 'node:timers/promises';
import { inTurns, PageTurns } from '../../src/http/page-routes/page-turns.js';

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
      turns.whenItIsTime(() => {
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
    turns.whenItIsTime(() => {
      order.push('first');
      turns.whenItIsTime(() => order.push('third'));
    });
    turns.whenItIsTime(() => order.push('second'));
    await turns.take();
    expect(order).toEqual(['first', 'second']);
    await turns.take();
    expect(order).toEqual(['first', 'second', 'third']);
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
