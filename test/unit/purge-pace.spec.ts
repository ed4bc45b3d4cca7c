import { nextSize, restAfter } from '#platform/database/purge/purge.service.js';

const MINUTE = 60_000;

describe('the purge', () => {
  it('leaves a connection unused for nineteen twentieths of the time', () => {
    expect(restAfter(20, 0)).toBe(380);
    expect(restAfter(20, 9 * MINUTE)).toBe(380);
  });

  it('leaves it unused for four fifths of the time if the purge has not finished after ten minutes', () => {
    expect(restAfter(20, 10 * MINUTE)).toBe(80);
  });

  it.each([
    ['increases its batch size while batches are fast', 250, 10, 500],
    ['keeps its batch size when a batch takes 20 ms', 250, 20, 250],
    ['decreases its batch size when batches are slow, at most by half', 250, 2_000, 125],
    ['has a minimum batch size', 20, 2_000, 20],
    ['has a maximum batch size', 1000, 1, 1000],
  ])('%s', (_what, size, took, next) => {
    expect(nextSize(size, took)).toBe(next);
  });
});
