import { LRUCache } from 'lru-cache';
import type { AccessChanges } from './access-changes.service.js';
import { outsideTransaction } from '../queries/transaction-around.js';
import { upTo } from '#platform/config/cache-capacity.js';

/** A value as read, and how long it can be relied on. */
export interface Reading<V> {
  value: V;
  /** The ids whose change invalidates it, as recorded in `access_changes`. */
  dependsOn: readonly string[];
  /** Seconds until it expires by itself, by the database's clock; Infinity if it does not. */
  seconds: number;
}

interface Kept<V> {
  value: V;
  dependsOn: readonly string[];
  position: number;
  /** Milliseconds of the process's monotonic clock. */
  until: number;
}

// How stale the reason for a refusal may be, for callers that are refused anyway.
const RECALLED_MS = 60_000;

/** Caches values as long as nothing that they depend on has changed. While that is unknown, nothing is served from the cache. */
export class ChangeTrackedCache<V extends object> {
  private readonly kept: LRUCache<string, Kept<V>>;

  /** `most`: the maximum number of values. */
  constructor(
    private readonly changes: AccessChanges,
    most: number,
  ) {
    this.kept = new LRUCache(upTo(most));
  }

  get(key: string): V | undefined {
    return this.changes.isTrusted ? this.unchanged(key) : undefined;
  }

  /** The value as of at most a minute ago, without a read. Only use it to refuse a request. */
  recall(key: string): V | undefined {
    return this.changes.wasTrusted(RECALLED_MS) ? this.unchanged(key) : undefined;
  }

  private unchanged(key: string): V | undefined {
    const found = this.kept.get(key);
    if (!found) return undefined;
    if (found.until > performance.now() && !this.changes.hasChanged(found.position, found.dependsOn)) {
      return found.value;
    }
    this.kept.delete(key);
    return undefined;
  }

  /** Reads a value and caches it; missing values are not cached. */
  async read(key: string, read: () => Promise<Reading<V> | undefined>): Promise<V | undefined> {
    const { position } = this.changes;
    const begun = performance.now();
    // Others are served what it returns.
    const reading = await outsideTransaction(read);
    if (!reading) return undefined;
    const { value, dependsOn, seconds } = reading;
    this.kept.set(key, { value, dependsOn, position, until: begun + seconds * 1000 });
    return value;
  }
}
