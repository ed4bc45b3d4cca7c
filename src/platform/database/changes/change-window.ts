/** A change: its position in the order of arrival, and the number of its transaction. */
interface Change {
  heard: number;
  xid: number;
}

/** In the ids of a change, this stands for everything. */
export const EVERYTHING: string = '*';

/**
 * The changes that were read, by the ids they affect, keeping the newest per id. Above `most` ids the oldest are dropped, and
 * every value read before the newest dropped change counts as changed.
 */
export class ChangeWindow {
  private readonly changes = new Map<string, Change>();
  private forgotten: Change = { heard: 0, xid: 0 };
  private lastHeard = 0;

  constructor(private readonly most: number) {}

  /** The number of changes added: a read that starts now has seen those up to here. */
  get position(): number {
    return this.lastHeard;
  }

  get size(): number {
    return this.changes.size;
  }

  add(xid: number, ids: readonly string[]): void {
    const heard = ++this.lastHeard;
    for (const id of ids) {
      if (id === EVERYTHING) {
        this.forgetUpTo({ heard, xid });
        continue;
      }
      const newest = Math.max(xid, this.changes.get(id)?.xid ?? 0);
      // Inserted again, so that the first in the map is the one that changed longest ago.
      this.changes.delete(id);
      this.changes.set(id, { heard, xid: newest });
    }
    this.shrink();
  }

  /** Starts again with the transactions of another database: everything read before counts as changed. */
  reset(): void {
    this.changes.clear();
    this.forgotten = { heard: ++this.lastHeard, xid: 0 };
  }

  /** Changes of transactions up to this number were skipped: everything read before counts as changed. */
  leaveOut(xid: number): void {
    this.forgetUpTo({ heard: ++this.lastHeard, xid });
  }

  /** Whether one of the ids has changed since something was read at a position. */
  hasChanged(position: number, ids: readonly string[]): boolean {
    if (this.forgotten.heard > position) return true;
    return ids.some((id) => (this.changes.get(id)?.heard ?? 0) > position);
  }

  /** Whether one of the ids was changed by a transaction with this number or a later one, as far as known. */
  hasChangedSince(xid: number, ids: readonly string[]): boolean {
    if (this.forgotten.xid >= xid) return true;
    return ids.some((id) => (this.changes.get(id)?.xid ?? 0) >= xid);
  }

  private shrink(): void {
    for (const [id, change] of this.changes) {
      if (this.changes.size <= this.most) return;
      this.changes.delete(id);
      this.forgetUpTo(change);
    }
  }

  private forgetUpTo({ heard, xid }: Change): void {
    this.forgotten = {
      heard: Math.max(this.forgotten.heard, heard),
      xid: Math.max(this.forgotten.xid, xid),
    };
  }
}
