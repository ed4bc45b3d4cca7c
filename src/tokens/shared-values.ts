import { LRUCache } from 'lru-cache';

/** Of values that are equal as JSON always the same one, frozen, so that the thousands who hold it share its memory. */
export class SharedValues {
  private readonly kept: LRUCache<string, object>;

  /** `most`: how many are kept; one that was forgotten is held twice until its holders are gone. */
  constructor(most: number) {
    this.kept = new LRUCache({ max: most });
  }

  of<V extends object>(value: V): Readonly<V> {
    const json = JSON.stringify(value);
    const found = this.kept.get(json) as V | undefined;
    if (found) return found;
    this.kept.set(json, Object.freeze(value));
    return value;
  }
}
