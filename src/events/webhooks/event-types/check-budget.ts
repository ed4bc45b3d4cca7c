/** What checking one event may cost. Measured: 30 to 150 ms of a processor. */
const STEPS = 4_000_000;
/** Characters that are read in the time of one comparison. */
const CHARACTERS = 16;

/** A check that was aborted because it would have kept the service busy. */
export class UsedUp extends Error {}

/**
 * What the check of one event may cost. A schema compares each value of the data at most once with each of its entries, and that
 * is spent at the start; patterns and formats spend their cost for each text.
 */
export class CheckBudget {
  private left = 0;

  /** Begins a check of data by a schema with this many entries. Throws UsedUp if it would cost too much. */
  begin(data: unknown, entries: number): void {
    this.left = STEPS;
    const waiting: unknown[] = [data];
    while (waiting.length > 0) {
      const value = waiting.pop();
      this.spend(typeof value === 'string' ? entries * (1 + value.length / CHARACTERS) : entries);
      if (typeof value !== 'object' || value === null) continue;
      for (const member of Object.values(value)) waiting.push(member);
    }
  }

  /** Throws UsedUp when nothing is left. */
  spend(steps: number): void {
    this.left -= steps;
    if (this.left < 0) throw new UsedUp();
  }
}
