/**
 * Options of an LRU cache with at most this many entries, whose memory grows as it fills; the option `max` alone would reserve
 * all of it at the start.
 */
export const upTo = (most: number): { maxSize: number; sizeCalculation: () => number } => ({
  maxSize: most,
  sizeCalculation: () => 1,
});
