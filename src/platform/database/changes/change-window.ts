import { ChangeTable, hashOf } from './change-table.js';

/** In the ids of a change, this stands for everything. */
export const EVERYTHING: string = '*';

/**
 * The changes that were read, by the ids they affect, keeping the newest per id: of the `least` ids that changed last at least, and of
 * twice as many at most. Every value read before the newest dropped change counts as changed.
 */
export class ChangeWindow {
  private newer = new ChangeTable();
  private older = new ChangeTable();
  private forgotten = { heard: 0, xid: 0 };
  private lastHeard = 0;

  constructor(private readonly least: number) {}

  /** The number of changes added: a read that starts now has seen those up to here. */
  get position(): number {
    return this.lastHeard;
  }

  /** How many ids it holds; one that changed again may count twice. */
  get size(): number {
    return this.newer.count + this.older.count;
  }

  add(xid: number, ids: readonly string[]): void {
    const heard = ++this.lastHeard;
    for (const id of ids) {
      if (id === EVERYTHING) {
        this.forgetUpTo({ heard, xid });
        continue;
      }
      const hash = hashOf(id);
      if (this.newer.count >= this.least && this.newer.heardOf(hash) === 0) this.makeRoom();
      this.newer.add(hash, heard, xid);
    }
  }

  /** Starts again with the transactions of another database: everything read before counts as changed. */
  reset(): void {
    this.newer = new ChangeTable();
    this.older = new ChangeTable();
    this.forgotten = { heard: ++this.lastHeard, xid: 0 };
  }

  /** Changes of transactions up to this number were skipped: everything read before counts as changed. */
  leaveOut(xid: number): void {
    this.forgetUpTo({ heard: ++this.lastHeard, xid });
  }

  /** Whether one of the ids has changed since something was read at a position. */
  hasChanged(position: number, ids: readonly string[]): boolean {
    if (this.forgotten.heard > position) return true;
    // Most values were read after all changes.
    if (this.newer.newest.heard <= position && this.older.newest.heard <= position) return false;
    return ids.some((id) => {
      const hash = hashOf(id);
      return this.newer.heardOf(hash) > position || this.older.heardOf(hash) > position;
    });
  }

  /** Whether one of the ids was changed by a transaction with this number or a later one, as far as known. */
  hasChangedSince(xid: number, ids: readonly string[]): boolean {
    if (this.forgotten.xid >= xid) return true;
    if (this.newer.newest.xid < xid && this.older.newest.xid < xid) return false;
    return ids.some((id) => {
      const hash = hashOf(id);
      return this.newer.xidOf(hash) >= xid || this.older.xidOf(hash) >= xid;
    });
  }

  /** Drops the older half. */
  private makeRoom(): void {
    this.forgetUpTo(this.older.newest);
    this.older = this.newer;
    this.newer = new ChangeTable();
  }

  private forgetUpTo({ heard, xid }: { heard: number; xid: number }): void {
    this.forgotten = {
      heard: Math.max(this.forgotten.heard, heard),
      xid: Math.max(this.forgotten.xid, xid),
    };
  }
}
