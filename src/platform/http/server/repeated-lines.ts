/** How long repetitions of a written line are only counted. */
const SILENT_MS = 60_000;
/** Beyond this many different lines, each one is written. */
const MOST = 500;

/**
 * Log lines that repeat, for example while the database is unavailable: written once, and then counted for a minute at a time.
 */
export class RepeatedLines {
  private readonly counts = new Map<string, number>();

  /** Whether to write the line now. `tell` is called after each minute with the number of lines that were not written, if any. */
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
