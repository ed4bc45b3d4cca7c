import { SLOTS_PER_WINDOW, type RateLimitDecision } from './rate-limit-store.js';

// Dropped entries are removed in batches of this size, to keep dropping cheap.
const CUT_AT = 32;

/**
 * The counted requests of one key, oldest first. Each entry holds a count and the time of its newest request, and leaves the
 * window with that request, so never too many are allowed. All times are integer microseconds of one monotonic clock.
 */
export class RollingLog {
  private readonly counts: number[];
  private readonly newest: number[];
  private first = 0;
  private total = 1;

  /** Creates the log with its first request. */
  constructor(now: number) {
    // Array literals with one element: an array that grows from empty allocates room for seventeen.
    this.counts = [1];
    this.newest = [now];
  }

  /** The number of stored entries, whatever they count. */
  get entries(): number {
    return this.counts.length - this.first;
  }

  /** When the last request leaves a window of this many microseconds; in the past if no request is left. */
  emptyAt(window: number): number {
    return this.total === 0 ? -Infinity : this.newest[this.newest.length - 1]! + window;
  }

  /** The number of requests in the window. */
  used(window: number, now: number): number {
    this.dropUntil(now - window);
    return this.total;
  }

  consume(limit: number, window: number, now: number): RateLimitDecision {
    this.dropUntil(now - window);
    if (this.total >= limit) {
      return {
        allowed: false,
        remaining: 0,
        retryAfterMs: Math.ceil(this.waitFor(limit, window, now) / 1000),
      };
    }
    this.add(window, now);
    return { allowed: true, remaining: limit - this.total, retryAfterMs: 0 };
  }

  /** Removes the newest request again, if it is still in the window. */
  giveBack(window: number, now: number): void {
    this.dropUntil(now - window);
    if (this.total === 0) return;
    this.total--;
    const last = this.counts.length - 1;
    if (--this.counts[last]! > 0) return;
    this.counts.pop();
    this.newest.pop();
  }

  private add(window: number, now: number): void {
    this.total++;
    const slot = window / SLOTS_PER_WINDOW;
    const last = this.newest.length - 1;
    const full = this.entries >= SLOTS_PER_WINDOW;
    if (full && Math.floor(this.newest[last]! / slot) === Math.floor(now / slot)) {
      this.counts[last]!++;
      this.newest[last] = now;
      return;
    }
    this.counts.push(1);
    this.newest.push(now);
  }

  private dropUntil(time: number): void {
    while (this.total > 0 && this.newest[this.first]! <= time) this.total -= this.counts[this.first++]!;
    if (this.total > 0 && this.first < CUT_AT) return;
    this.counts.splice(0, this.first);
    this.newest.splice(0, this.first);
    this.first = 0;
  }

  /** Microseconds until fewer than `limit` are left: usually when the oldest leaves, later if the limit was lowered. */
  private waitFor(limit: number, window: number, now: number): number {
    let index = this.first;
    let left = this.total - this.counts[index]!;
    while (left >= limit) left -= this.counts[++index]!;
    return this.newest[index]! + window - now;
  }
}
