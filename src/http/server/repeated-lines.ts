/** How long a line is only counted after it was written. */
const SILENT_MS = 60_000;
/** More different lines than these are written each time. */
const MOST = 500;

/** Lines that are the same again and again, as while the database is away: written once, and then counted for a minute at a time. */
export class RepeatedLines {
  private readonly counts = new Map<string, number>();

  /** Whether to write the line now. `tell` gets the number of those that were not written, after each minute with any. */
  isNew(line: string, tell: (count: number) => void): boolean {
    const count = this.counts.get(line);
    if (count !== undefined) {
      this.counts.set(line, count + 1);
      return false;
    }
    if (this.counts.size < MOST) this.silence(line, tell);
    return true;
  }

  private silence(line: string, tell: (count: number) => void): void {
    this.counts.set(line, 0);
    setTimeout(() => {
      const count = this.counts.get(line)!;
      this.counts.delete(line);
      if (count === 0) return;
      this.silence(line, tell);
      tell(count);
    }, SILENT_MS).unref();
  }
}
