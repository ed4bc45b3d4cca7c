import { createHash } from 'node:crypto';

/** The injection token of the store: shared over Redis, or local. */
export const RATE_LIMIT_STORE = Symbol('RATE_LIMIT_STORE');

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

const LONGEST = 100;
// No `#`, which marks digests, and no braces, which have a meaning in Redis keys.
const PLAIN = /^[\w:./@|+-]+$/;
const LONGEST_NAMESPACE = 32;

/** The key as stored: unchanged if short and plain, otherwise its SHA-256. Different keys stay different. */
export function storageKey(key: string): string {
  if (key.length <= LONGEST && PLAIN.test(key)) return key;
  // UTF-8 would encode all unpaired surrogates alike, and so merge different keys.
  return `#${createHash('sha256').update(Buffer.from(key, 'utf16le')).digest('base64url')}`;
}

/** The part of the key before its first `:`; empty if it is missing or too long for a namespace. */
export function namespaceOf(key: string): string {
  const end = key.indexOf(':');
  return end > 0 && end <= LONGEST_NAMESPACE ? key.slice(0, end) : '';
}
