// Each part grows by itself, so that a full table does not stop the process while millions of ids move.
const PARTS = 64;
const FEWEST_SLOTS = 64;
// Fuller, and a look-up takes many steps.
const FULL = 0.75;
const HIGH_BITS = 21;

/**
 * Hashes an id into a whole number of 53 bits, never 0, which stands for an empty slot. Not for secrets: ids with the same hash can be
 * found on purpose.
 */
export function hashOf(id: string): number {
  let low = 0x9747b28c;
  let high = 0x3c6ef372;
  for (let at = 0; at < id.length; at++) {
    const code = id.charCodeAt(at);
    low = Math.imul(low ^ code, 0x85ebca6b);
    low ^= low >>> 15;
    high = Math.imul(high ^ code, 0xc2b2ae35);
    high ^= high >>> 13;
  }
  return (low >>> 0) * 2 ** HIGH_BITS + (high >>> (32 - HIGH_BITS)) || 1;
}

/** An open table of hashes, in 24 bytes for each slot. */
class Part {
  private hashes = new Float64Array(FEWEST_SLOTS);
  private heard = new Float64Array(FEWEST_SLOTS);
  private xids = new Float64Array(FEWEST_SLOTS);
  private count = 0;

  heardOf(hash: number): number {
    return this.heard[this.slotOf(hash)]!;
  }

  xidOf(hash: number): number {
    return this.xids[this.slotOf(hash)]!;
  }

  /** Whether the hash is new. */
  add(hash: number, heard: number, xid: number): boolean {
    if (this.count >= this.hashes.length * FULL) this.grow();
    const slot = this.slotOf(hash);
    const isNew = this.hashes[slot] === 0;
    if (isNew) this.count++;
    this.hashes[slot] = hash;
    this.heard[slot] = heard;
    this.xids[slot] = Math.max(xid, this.xids[slot]!);
    return isNew;
  }

  /** Where the hash is, or the empty slot where it would be. */
  private slotOf(hash: number): number {
    const { hashes } = this;
    const mask = hashes.length - 1;
    let slot = Math.floor(hash / 2 ** HIGH_BITS) & mask;
    while (hashes[slot] !== hash && hashes[slot] !== 0) slot = (slot + 1) & mask;
    return slot;
  }

  private grow(): void {
    const { hashes, heard, xids } = this;
    const slots = hashes.length * 2;
    this.hashes = new Float64Array(slots);
    this.heard = new Float64Array(slots);
    this.xids = new Float64Array(slots);
    for (const [from, hash] of hashes.entries()) {
      if (hash === 0) continue;
      const to = this.slotOf(hash);
      this.hashes[to] = hash;
      this.heard[to] = heard[from]!;
      this.xids[to] = xids[from]!;
    }
  }
}

/**
 * Hashes of ids and their newest changes. Two ids of the same hash count as one: one of them then seems to have changed too, which
 * costs a look in the database.
 */
class ChangeTable {
  private readonly parts = Array.from({ length: PARTS }, () => new Part());
  /** How many ids it has. */
  count = 0;
  /** The newest of all its changes. */
  readonly newest = { heard: 0, xid: 0 };

  /** The order of arrival of the id's newest change; 0 for none. */
  heardOf(hash: number): number {
    return this.parts[hash % PARTS]!.heardOf(hash);
  }

  /** The greatest number of a transaction that changed the id; 0 for none. */
  xidOf(hash: number): number {
    return this.parts[hash % PARTS]!.xidOf(hash);
  }

  add(hash: number, heard: number, xid: number): void {
    if (this.parts[hash % PARTS]!.add(hash, heard, xid)) this.count++;
    this.newest.heard = Math.max(heard, this.newest.heard);
    this.newest.xid = Math.max(xid, this.newest.xid);
  }
}

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
