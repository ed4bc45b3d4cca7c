/** What became of one request. */
export interface RateLimitDecision {
  allowed: boolean;
  /** How many more requests would be allowed now. */
  remaining: number;
  /** 0 when allowed; else after this many milliseconds a request is allowed, if nobody else takes the place. */
  retryAfterMs: number;
}

/**
 * Counts requests by key in rolling windows. All calls for one key name the same window; the limit may change from
 * call to call and counts at once. The part of a key before its first `:` is its namespace.
 */
export interface RateLimitStore {
  /**
   * Counts one request against `limit` requests (a whole number from 1) in any rolling window of `windowMs` (whole
   * milliseconds); a refused request is not counted.
   */
  consume(key: string, limit: number, windowMs: number): Promise<RateLimitDecision>;
  /** Takes the newest counted request back (never below none). */
  giveBack(key: string, windowMs: number): Promise<void>;
  /** Forgets all requests of the key. */
  clear(key: string): Promise<void>;
}

/**
 * So many requests within one window are kept one by one; only of more are those within one slot, this fraction of
 * the window, kept together. A key thus never takes more than about twice so many entries, and a request is held
 * against a caller for at most one slot (30 s of an hour) longer than it must be.
 */
export const SLOTS_PER_WINDOW = 120;

/** Throws a RangeError for a limit or a window that no store can count by. */
export function checkRate(limit: number, windowMs: number): void {
  if (!Number.isSafeInteger(limit) || limit < 1) throw new RangeError(`no limit to count by: ${limit}`);
  checkWindow(windowMs);
}

/** Throws a RangeError for a window that is not a positive whole number of milliseconds. */
export function checkWindow(windowMs: number): void {
  if (!Number.isSafeInteger(windowMs) || windowMs < 1)
    throw new RangeError(`no window to count by: ${windowMs}`);
}
