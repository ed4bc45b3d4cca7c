import { concerns, type Change, type Subjects } from './changes.js';

interface Kept<V> {
  key: string;
  value: V;
  subjects: Subjects;
}

/** Values by key, at most so many, the least recently used dropped first; found by the client and the users they are about. */
export class Memory<V> {
  private readonly kept = new Map<string, Kept<V>>();
  private readonly ofClient = new Map<string, Set<Kept<V>>>();
  private readonly ofUser = new Map<string, Set<Kept<V>>>();

  constructor(private readonly most: number) {}

  get size(): number {
    return this.kept.size;
  }

  get(key: string): V | undefined {
    const found = this.kept.get(key);
    if (!found) return undefined;
    // Inserted again, so that the first in the map is the one that was used longest ago.
    this.kept.delete(key);
    this.kept.set(key, found);
    return found.value;
  }

  set(key: string, value: V, subjects: Subjects): void {
    this.delete(key);
    const kept = { key, value, subjects };
    this.kept.set(key, kept);
    addTo(this.ofClient, subjects.clientId, kept);
    for (const userId of subjects.userIds) addTo(this.ofUser, userId, kept);
    if (this.kept.size > this.most) this.delete(this.kept.keys().next().value!);
  }

  delete(key: string): void {
    const found = this.kept.get(key);
    if (!found) return;
    this.kept.delete(key);
    removeFrom(this.ofClient, found.subjects.clientId, found);
    for (const userId of found.subjects.userIds) removeFrom(this.ofUser, userId, found);
  }

  /** Drops what a change concerns. */
  forget(change: Change): void {
    if (change.clientId === undefined && change.userId === undefined) return this.clear();
    const found =
      change.userId === undefined ? this.ofClient.get(change.clientId!) : this.ofUser.get(change.userId);
    for (const { key, subjects } of [...(found ?? [])]) if (concerns(change, subjects)) this.delete(key);
  }

  clear(): void {
    this.kept.clear();
    this.ofClient.clear();
    this.ofUser.clear();
  }
}

function addTo<T>(index: Map<string, Set<T>>, key: string, value: T): void {
  const found = index.get(key);
  if (found) found.add(value);
  else index.set(key, new Set([value]));
}

function removeFrom<T>(index: Map<string, Set<T>>, key: string, value: T): void {
  const found = index.get(key);
  found?.delete(value);
  if (found?.size === 0) index.delete(key);
}
