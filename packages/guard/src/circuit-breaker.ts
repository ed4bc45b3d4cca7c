const FAILURES = 5;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

/**
 * Spares a service that fails: after five failures in a row nothing is asked for a second, then one request tries; while that
 * fails, the pause doubles up to half a minute.
 */
export class CircuitBreaker {
  private failures = 0;
  private pauseMs = 0;
  private openUntil = -Infinity;
  private isTrying = false;

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Whether a request may be sent now; its outcome must then be told. */
  admit(): boolean {
    if (this.pauseMs === 0) return true;
    if (this.isTrying || this.now() < this.openUntil) return false;
    this.isTrying = true;
    return true;
  }

  /** Seconds until it is worth asking again. */
  get retryAfter(): number {
    return Math.max(1, Math.ceil((this.openUntil - this.now()) / 1000));
  }

  /** Returns whether this ends a pause. */
  succeeded(): boolean {
    const wasOpen = this.pauseMs > 0;
    this.failures = 0;
    this.pauseMs = 0;
    this.isTrying = false;
    return wasOpen;
  }

  /** Returns whether this begins a pause. */
  failed(): boolean {
    const wasOpen = this.pauseMs > 0;
    this.failures++;
    if (wasOpen && !this.isTrying) return false;
    this.isTrying = false;
    if (this.failures < FAILURES) return false;
    this.pauseMs = wasOpen ? Math.min(LONGEST_PAUSE_MS, this.pauseMs * 2) : FIRST_PAUSE_MS;
    this.openUntil = this.now() + this.pauseMs;
    return !wasOpen;
  }
}
