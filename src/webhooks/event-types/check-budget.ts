/** What checking one event may cost. Measured: 30 to 150 ms of a processor. */
const STEPS = 4_000_000;
/** Characters that are read in the time of one comparison. */
const CHARACTERS = 16;

/** A check that was given up, because it would have kept the service busy. */
export class UsedUp extends Error {}

/**
 * What the check of one event may cost. A schema looks at each value of the data at most once with each of its entries, which is
 * spent at the beginning; patterns and formats spend what they cost for each text.
 */
export class CheckBudget {
  private left = 0;

  /** Begins a check of data by a schema of so many entries. Throws UsedUp if it costs too much. */
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
