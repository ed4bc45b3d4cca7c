import { LRUCache } from 'lru-cache';
import { checkRate, checkWindow, type RateLimitDecision, type RateLimitStore } from './rate-limit-store.js';
import { RequestLog } from './request-log.js';
import { namespaceOf, storageKey } from './storage-key.js';

/** About 60 MB a namespace when every key has a few requests; a key with as many entries as can be takes 4.5 kB. */
const KEYS_PER_NAMESPACE = 100_000;
// The service has a handful; beyond this many they share one, so that odd keys cannot take memory without bounds.
const NAMESPACES = 16;
const IDLE_DROPPED_AT_ONCE = 2;

export interface MemoryRateLimitStoreOptions {
  /** Milliseconds of a clock that never goes back; by default the process's own, which no change of the date moves. */
  clock?: () => number;
  /** How many keys each namespace keeps; the one that was longest without a request makes room. */
  keysPerNamespace?: number;
}

interface Counted {
  log: RequestLog;
  /** In microseconds. */
  window: number;
}

/**
 * Counts in this process. Every namespace has room of its own, so that a flood of keys in one (addresses) never
 * pushes out a count in another (clients).
 */
export class MemoryRateLimitStore implements RateLimitStore {
  private readonly namespaces = new Map<string, LRUCache<string, Counted>>();
  private readonly clock: () => number;
  private readonly keysPerNamespace: number;

  constructor(options: MemoryRateLimitStoreOptions = {}) {
    this.clock = options.clock ?? (() => performance.now());
    this.keysPerNamespace = options.keysPerNamespace ?? KEYS_PER_NAMESPACE;
  }

  /** How many keys are kept now. */
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
    keys.set(kept, { log: new RequestLog(now), window });
    return { allowed: true, remaining: limit - 1, retryAfterMs: 0 };
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
    const created = new LRUCache<string, Counted>({ max: this.keysPerNamespace });
    this.namespaces.set(namespace, created);
    return created;
  }
}

/** Lets go of the keys longest without a request, if all of theirs have left the window: two for each new key. */
function dropIdle(keys: LRUCache<string, Counted>, now: number): void {
  for (let n = 0; n < IDLE_DROPPED_AT_ONCE; n++) {
    const oldest = keys.rentries().next().value as [string, Counted] | undefined;
    if (!oldest || oldest[1].log.emptyAt(oldest[1].window) > now) return;
    keys.delete(oldest[0]);
  }
}
