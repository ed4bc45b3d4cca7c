// Enough for a balancer that asks every second and wants to be told twice; it leaves five of the eight seconds of contract
// §14 for what was sent last.
const DRAIN_MS = 3_000;
// Whoever has asked again and again until so shortly ago is still there.
const WATCHED_WITHIN_MS = 5_000;
const ASKED_FOR_MS = 500;

/**
 * The beginning of a shutdown (contract §14) behind a load balancer. A connection that reaches a listening socket as it
 * closes is lost; so where someone watches the readiness it stays open for three seconds more, in which the balancer is
 * told that it has ended and sends its requests elsewhere. Where nobody watches it closes at once.
 */
export class Drain {
  /** Since when, and until when, someone asked without a long silence; times of `performance.now()`. */
  private since = -Infinity;
  private last = -Infinity;

  /** Notes that someone asked whether the instance is ready. */
  asked(): void {
    const now = performance.now();
    if (now - this.last > WATCHED_WITHIN_MS) this.since = now;
    this.last = now;
  }

  /** Resolves when the listening socket may close. */
  async finish(): Promise<void> {
    const isWatched =
      performance.now() - this.last < WATCHED_WITHIN_MS && this.last - this.since >= ASKED_FOR_MS;
    if (isWatched) await new Promise((resolve) => setTimeout(resolve, DRAIN_MS));
  }
}
