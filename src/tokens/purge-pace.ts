// A batch is made larger or smaller so that it takes about this long.
const BATCH_MS = 20;
const LEAST = 20;
const MOST = 1000;
// A twentieth of one connection's time, so that what is asked for meanwhile hardly notices ...
const REST = 19;
// ... and a fifth of it for a purge that has not gone through by then, or it would never catch up.
const PATIENCE_MS = 600_000;
const REST_WHEN_LATE = 4;

/** How many rows the first batch has. */
export const FIRST_BATCH = 250;

/** How many rows the next batch has after one of `size` rows that took so many milliseconds. */
export function nextSize(size: number, took: number): number {
  return Math.round(Math.min(MOST, Math.max(LEAST, (size * BATCH_MS) / took, size / 2)));
}

/** Milliseconds of rest after a batch that took `took` milliseconds, in a purge that began `since` milliseconds ago. */
export function restAfter(took: number, since: number): number {
  return took * (since < PATIENCE_MS ? REST : REST_WHEN_LATE);
}
