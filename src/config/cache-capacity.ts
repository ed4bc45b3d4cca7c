/** Options of an LRU cache with at most so many entries, whose memory grows with them: `max` reserves all of it at the start. */
export const upTo = (most: number): { maxSize: number; sizeCalculation: () => number } => ({
  maxSize: most,
  sizeCalculation: () => 1,
});
