export const sumOf = (counts: number[]): number => counts.reduce((sum, count) => sum + count, 0);

export const formatCount = (count: number): string => count.toLocaleString('en-GB');

/** A duration in readable form. */
export const formatMs = (ms: number): string =>
  ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0).replace(/\.0$/, '')} s`;
