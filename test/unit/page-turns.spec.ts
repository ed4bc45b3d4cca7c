import { inTurns, PageTurns, type PageTurn } from '../../src/http/page-routes/page-turns.js';
import { HeldTimers } from '../support/held-timers.js';

// As many as at the start of a busy period.
const AT_ONCE = 8;
const SLOW_MS = 1_000;

describe('pages', () => {
  const turns = () => new PageTurns();
  /** Takes so many turns; returns those that were given so far, in their order. */
  const takeSome = (from: PageTurns, count: number): PageTurn[] => {
    const given: PageTurn[] = [];
    for (let n = 0; n < count; n++) from.whenThereIsRoom((turn) => given.push(turn));
    return given;
  };

  it('wait while there is no room, and go on in their order', () => {
    const order: string[] = [];
    const all = turns();
    const [first, second] = takeSome(all, AT_ONCE);
    all.whenThereIsRoom(() => order.push('one'));
    all.whenThereIsRoom(() => order.push('other'));
    expect(order).toEqual([]);
    first!.end();
    // Ending twice makes room once.
    first!.end();
    expect(order).toEqual(['one']);
    second!.end();
    expect(order).toEqual(['one', 'other']);
  });

  it('make room for others once they are slow, because they wait for something else then', () => {
    const slow = HeldTimers.hold(SLOW_MS, SLOW_MS, 'page-turns');
    try {
      const all = turns();
      const given = takeSome(all, AT_ONCE + 1);
      expect(given).toHaveLength(AT_ONCE);
      slow.letPass();
      expect(given).toHaveLength(AT_ONCE + 1);
    } finally {
      slow.release();
    }
  });

  it('are refused when a thousand wait', () => {
    const all = turns();
    takeSome(all, AT_ONCE + 999);
    expect(all.areFull).toBe(false);
    takeSome(all, 1);
    expect(all.areFull).toBe(true);
  });

  describe('of a large file', () => {
    async function* rows() {
      for (let n = 0; n < 10; n++) yield n;
    }

    it('give way to others after each part', async () => {
      const all = turns();
      takeSome(all, AT_ONCE - 1);
      const file = inTurns(all, rows(), 4);
      const read: number[] = [];
      for (let n = 0; n < 4; n++) read.push((await file.next()).value as number);
      let other: PageTurn | undefined;
      all.whenThereIsRoom((turn) => (other = turn));
      expect(other).toBeUndefined();
      const next = file.next();
      await Promise.resolve();
      expect(other).toBeDefined();
      other!.end();
      read.push((await next).value as number);
      for await (const row of file) read.push(row);
      expect(read).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
      expect(takeSome(all, 1)).toHaveLength(1);
    });

    it('end with its reader', async () => {
      const all = turns();
      takeSome(all, AT_ONCE - 1);
      const file = inTurns(all, rows(), 4);
      await file.next();
      const next = takeSome(all, 1);
      expect(next).toEqual([]);
      await file.return(undefined);
      expect(next).toHaveLength(1);
    });
  });
});
