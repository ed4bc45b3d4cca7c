// Up to a tenth more or less, so that deliveries that failed together are not retried together.
const JITTER = 0.1;
/** Contract §10: `Retry-After` is honoured up to 24 hours. */
const RETRY_AFTER_MAX_SECONDS = 86_400;

/**
 * Seconds to wait before the next attempt when `retries` of the schedule are used up; undefined if there are no more. A
 * receiver's `Retry-After` is a minimum.
 */
export function waitBeforeRetry(
  schedule: readonly number[],
  retries: number,
  retryAfterMs = 0,
  random: () => number = Math.random,
): number | undefined {
  const wait = schedule[retries];
  if (wait === undefined) return undefined;
  const jittered = wait * (1 + JITTER * (2 * random() - 1));
  return Math.max(jittered, Math.min(retryAfterMs / 1000, RETRY_AFTER_MAX_SECONDS));
}

/** Seconds from the first attempt to the last one at the most, unless a receiver asks to wait longer. */
export const longestOf = (schedule: readonly number[]): number =>
  schedule.reduce((sum, wait) => sum + wait, 0) * (1 + JITTER);
