import { SLOTS_PER_WINDOW, type RateLimitDecision } from './rate-limit-store.js';

// Dropped entries are cut off this many at a time, so that dropping one costs next to nothing.
const CUT_AT = 32;

/**
 * The counted requests of one key, oldest first, as entries of a count and the time of its newest request: an entry
 * leaves the window when that one does, so never too many are allowed. All times are whole microseconds of one clock
 * that never goes back.
 */
export class RequestLog {
  private readonly counts: number[];
  private readonly newest: number[];
  private first = 0;
  private total = 1;

  /** The log with its first request. */
  constructor(now: number) {
    // Literals of one element, since an array that grows from none takes room for seventeen.
    this.counts = [1];
    this.newest = [now];
  }

  /** How many entries are kept, whatever they count. */
  get entries(): number {
    return this.counts.length - this.first;
  }

  /** When the last of the requests leaves a window of so many microseconds; in the past when there is none. */
  emptyAt(window: number): number {
    return this.total === 0 ? -Infinity : this.newest[this.newest.length - 1]! + window;
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

  /** Takes the newest request back, if any is still in the window. */
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

  /** Microseconds until fewer than `limit` are left: usually when the oldest goes, later after a limit was lowered. */
  private waitFor(limit: number, window: number, now: number): number {
    let index = this.first;
    let left = this.total - this.counts[index]!;
    while (left >= limit) left -= this.counts[++index]!;
    return this.newest[index]! + window - now;
  }
}
