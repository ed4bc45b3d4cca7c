import { LRUCache } from 'lru-cache';
import {
  checkRate,
  checkWindow,
  type RateLimitDecision,
  type RateLimitStore,
  namespaceOf,
  storageKey,
} from './rate-limit-store.js';
import { RollingLog } from './rolling-log.js';
import { upTo } from '#platform/config/durations.js';

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
