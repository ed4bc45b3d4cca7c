// The batch size is adjusted so that a batch takes about this long.
const BATCH_MS = 20;
const LEAST = 20;
const MOST = 1000;
// The purge uses a twentieth of one connection's time, so that other queries hardly notice ...
const REST = 19;
// ... and a fifth of it after this time, so that a slow purge can catch up.
const PATIENCE_MS = 600_000;
const REST_WHEN_LATE = 4;

/** The number of rows of the first batch. */
export const FIRST_BATCH = 250;

/** The number of rows of the next batch, after one of `size` rows that took `took` milliseconds. */
export function nextSize(size: number, took: number): number {
  // After a batch that was too large, grow again slowly.
  const least = Math.min(LEAST, size * 2);
  return Math.round(Math.min(MOST, Math.max(least, (size * BATCH_MS) / took, size / 2)));
}

/** The number of rows to try after a batch of `size` rows hit the statement timeout; undefined if it cannot be smaller. */
export function sizeAfterTimeout(size: number): number | undefined {
  return size === 1 ? undefined : Math.ceil(size / 10);
}

/** Milliseconds to rest after a batch that took `took` milliseconds, in a purge that began `since` milliseconds ago. */
export function restAfter(took: number, since: number): number {
  return took * (since < PATIENCE_MS ? REST : REST_WHEN_LATE);
}
