import { LRUCache } from 'lru-cache';
import {
  checkRate,
  checkWindow,
  type RateLimitDecision,
  type RateLimitStore,
  namespaceOf,
  storageKey,
  SLOTS_PER_WINDOW,
} from './rate-limit-store.js';
import { upTo } from '#platform/config/cache-capacity.js';

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

/** About 60 MB per namespace if every key has a few requests; a key with the maximum number of entries takes 4.5 kB. */
const KEYS_PER_NAMESPACE = 100_000;
// The service has a handful of namespaces. Any more share one, so that unexpected keys cannot use unbounded memory.
const NAMESPACES = 16;
const IDLE_DROPPED_AT_ONCE = 2;

export interface MemoryRateLimitStoreOptions {
  /** Milliseconds of a monotonic clock; by default the process's own, which is independent of the system time. */
  clock?: () => number;
  /** The number of keys kept per namespace; the least recently used one is dropped. */
  keysPerNamespace?: number;
}

interface Counted {
  log: RollingLog;
  /** In microseconds. */
  window: number;
}

/**
 * Counts in this process. Each namespace has its own capacity, so that a flood of keys in one (addresses) never evicts counts in
 * another (clients).
 */
export class MemoryRateLimitStore implements RateLimitStore {
  private readonly namespaces = new Map<string, LRUCache<string, Counted>>();
  private readonly clock: () => number;
  private readonly keysPerNamespace: number;

  constructor(options: MemoryRateLimitStoreOptions = {}) {
    this.clock = options.clock ?? (() => performance.now());
    this.keysPerNamespace = options.keysPerNamespace ?? KEYS_PER_NAMESPACE;
  }

  /** The number of keys currently kept. */
  get size(): number {
    return [...this.namespaces.values()].reduce((sum, keys) => sum + keys.size, 0);
  }

  async consume(key: string, limit: number, windowMs: number): Promise<RateLimitDecision> {
    checkRate(limit, windowMs);
    const now = this.now();
    const window = windowMs * 1000;
    const keys = this.keysBeside(key);
    const kept = storageKey(key);
    const counted = keys.get(kept);
    if (counted) {
      counted.window = window;
      return counted.log.consume(limit, window, now);
    }
    dropIdle(keys, now);
    keys.set(kept, { log: new RollingLog(now), window });
    return { allowed: true, remaining: limit - 1, retryAfterMs: 0 };
  }

  async used(key: string, windowMs: number): Promise<number> {
    checkWindow(windowMs);
    const counted = this.keysBeside(key).peek(storageKey(key));
    return counted?.log.used(windowMs * 1000, this.now()) ?? 0;
  }

  async giveBack(key: string, windowMs: number): Promise<void> {
    checkWindow(windowMs);
    this.keysBeside(key)
      .peek(storageKey(key))
      ?.log.giveBack(windowMs * 1000, this.now());
  }

  async clear(key: string): Promise<void> {
    this.keysBeside(key).delete(storageKey(key));
  }

  private now(): number {
    return Math.round(this.clock() * 1000);
  }

  private keysBeside(key: string): LRUCache<string, Counted> {
    const namespace = namespaceOf(key);
    const keys = this.namespaces.get(namespace);
    if (keys) return keys;
    if (namespace !== '' && this.namespaces.size >= NAMESPACES) return this.keysBeside('');
    const created = new LRUCache<string, Counted>(upTo(this.keysPerNamespace));
    this.namespaces.set(namespace, created);
    return created;
  }
}

/** Drops the least recently used keys whose requests have all left the window: up to two for each new key. */
function dropIdle(keys: LRUCache<string, Counted>, now: number): void {
  for (let n = 0; n < IDLE_DROPPED_AT_ONCE; n++) {
    const oldest = keys.rentries().next().value as [string, Counted] | undefined;
    if (!oldest || oldest[1].log.emptyAt(oldest[1].window) > now) return;
    keys.delete(oldest[0]);
  }
}
