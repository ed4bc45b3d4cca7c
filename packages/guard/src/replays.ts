import { unavailable } from './refusal.js';

/** Remembers which proofs were used, so that each is accepted once (RFC 9449 §11.1). */
export interface ProofReplays {
  /**
   * True if this id was not used yet; from then on it counts as used for so many seconds, at least. In one step: of several at a time, one is
   * told true. Rejects if that cannot be known: the request is then refused with 503.
   */
  use(id: string, seconds: number): boolean | Promise<boolean>;
}

// With the size of an entry, about 60 MB.
const MOST = 500_000;

/** In the memory of this process: a proof can be used once at each process. Full, it refuses with 503. */
export class ReplaysInMemory implements ProofReplays {
  /** When each is forgotten, by the monotonic clock in milliseconds; the first one first. */
  private readonly used = new Map<string, number>();

  /** `keptSeconds`: how long each is kept, whatever is asked for, so that they end in the order in which they came. */
  constructor(
    private readonly keptSeconds: number,
    private readonly most = MOST,
  ) {}

  use(id: string, seconds: number): boolean {
    const now = performance.now();
    for (const [first, endsAt] of this.used) {
      if (endsAt > now) break;
      this.used.delete(first);
    }
    if (this.used.has(id)) return false;
    if (this.used.size >= this.most) throw unavailable(1);
    this.used.set(id, now + Math.max(seconds, this.keptSeconds) * 1000);
    return true;
  }
}
