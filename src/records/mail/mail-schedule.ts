const MINUTE = 60;
/** Contract §18: the waits before the next attempts, the last of which repeats. */
const WAITS = [MINUTE, 5 * MINUTE, 15 * MINUTE, 60 * MINUTE] as const;

/** Seconds to wait after this many attempts have failed. */
export const waitAfter = (attempts: number): number =>
  WAITS[Math.min(Math.max(attempts, 1), WAITS.length) - 1]!;
