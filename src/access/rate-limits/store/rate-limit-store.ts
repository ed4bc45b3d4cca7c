/** The decision about one request. */
export interface RateLimitDecision {
  allowed: boolean;
  /** How many more requests are allowed now. */
  remaining: number;
  /** 0 if allowed; otherwise the milliseconds until a request is allowed, unless another one takes its place. */
  retryAfterMs: number;
}

/**
 * Counts requests per key in rolling windows. All calls for a key use the same window; the limit may change between calls and
 * applies immediately. The part of a key before its first `:` is its namespace.
 */
export interface RateLimitStore {
  /**
   * Counts one request against `limit` requests (a whole number from 1) in any rolling window of `windowMs` (whole milliseconds).
   * A refused request is not counted.
   */
  consume(key: string, limit: number, windowMs: number): Promise<RateLimitDecision>;
  /** How many requests are counted now; counts nothing. */
  used(key: string, windowMs: number): Promise<number>;
  /** Removes the newest counted request again (never below zero). */
  giveBack(key: string, windowMs: number): Promise<void>;
  /** Forgets all requests of the key. */
  clear(key: string): Promise<void>;
}

/**
 * Up to this many requests within a window are stored individually. Beyond that, requests within one slot, this fraction of the
 * window, are stored together. So a key has at most about twice as many entries, and a request counts for at most one slot (30 s
 * of an hour) longer than necessary.
 */
export const SLOTS_PER_WINDOW = 120;

/** Throws a RangeError for an invalid limit or window. */
export function checkRate(limit: number, windowMs: number): void {
  if (!Number.isSafeInteger(limit) || limit < 1) throw new RangeError(`invalid limit: ${limit}`);
  checkWindow(windowMs);
}

/** Throws a RangeError for a window that is not a positive whole number of milliseconds. */
export function checkWindow(windowMs: number): void {
  if (!Number.isSafeInteger(windowMs) || windowMs < 1) throw new RangeError(`invalid window: ${windowMs}`);
}
