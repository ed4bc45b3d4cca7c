import { LRUCache } from 'lru-cache';
import type { AccessChanges } from './access-changes.service.js';

/** A value as it was read, and for how long it may be relied on. */
export interface Reading<V> {
  value: V;
  /** The ids whose change ends it, as the database announces them. */
  restsOn: readonly string[];
  /** Seconds that it lasts by itself, by the database's clock; Infinity where it has no end. */
  seconds: number;
}

interface Kept<V> {
  value: V;
  restsOn: readonly string[];
  position: number;
  /** Milliseconds of the process's own clock. */
  until: number;
}

/** Values kept in memory for as long as nothing they rest on changed, and not at all while that cannot be known. */
export class Remembered<V extends object> {
  private readonly kept: LRUCache<string, Kept<V>>;

  /** `most`: how many are kept. */
  constructor(
    private readonly changes: AccessChanges,
    most: number,
  ) {
    this.kept = new LRUCache({ max: most });
  }

  get(key: string): V | undefined {
    if (!this.changes.isTrusted) return undefined;
    const found = this.kept.get(key);
    if (!found) return undefined;
    if (found.until > performance.now() && !this.changes.hasChanged(found.position, found.restsOn)) {
      return found.value;
    }
    this.kept.delete(key);
    return undefined;
  }

  /** Reads a value and keeps it; what is not there is not kept. */
  async read(key: string, read: () => Promise<Reading<V> | undefined>): Promise<V | undefined> {
    const { position } = this.changes;
    const begun = performance.now();
    const reading = await read();
    if (!reading) return undefined;
    const { value, restsOn, seconds } = reading;
    this.kept.set(key, { value, restsOn, position, until: begun + seconds * 1000 });
    return value;
  }
}
