import { nextSize, restAfter } from '../../src/tokens/purge-pace.js';

const MINUTE = 60_000;

describe('the pace of the purge', () => {
  it('leaves a connection nineteen twentieths of its time', () => {
    expect(restAfter(20, 0)).toBe(380);
    expect(restAfter(20, 9 * MINUTE)).toBe(380);
  });

  it('leaves it four fifths when the purge has not gone through after ten minutes', () => {
    expect(restAfter(20, 10 * MINUTE)).toBe(80);
  });

  it.each([
    ['grows while batches are quick', 250, 10, 500],
    ['stays where a batch takes 20 ms', 250, 20, 250],
    ['shrinks when they are slow, by half at the most', 250, 2_000, 125],
    ['has a least size', 20, 2_000, 20],
    ['has a largest size', 1000, 1, 1000],
  ])('%s', (_what, size, took, next) => {
    expect(nextSize(size, took)).toBe(next);
  });
});
