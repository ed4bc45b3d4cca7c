/** How far the time of day may get ahead of the monotonic clock, in milliseconds. */
const LEAP_MS = 1_000;

const lead = (): number => Date.now() - performance.now();

/** Notices that the machine has slept, or was stopped: the time of day went on, the monotonic clock did not. */
export class Sleep {
  /** By how much the time of day was ahead, at least, since the last sleep. */
  private least = lead();

  /** Whether there was a sleep since the last call. A time of day that is put forward counts as one. */
  wasJustNow(): boolean {
    const now = lead();
    const was = now - this.least > LEAP_MS;
    this.least = was ? now : Math.min(this.least, now);
    return was;
  }
}
