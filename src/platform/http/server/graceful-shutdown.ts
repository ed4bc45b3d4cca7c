// Enough for a load balancer that checks every second and needs two failures; leaves five of the eight seconds of contract §14
// for the last requests.
const STAY_OPEN_MS = 3_000;
// A balancer whose last check is no older than this is considered present.
const WATCHED_WITHIN_MS = 5_000;
const ASKED_FOR_MS = 500;

/**
 * The start of a shutdown (contract §14) behind a load balancer. A connection that reaches the listening socket while it closes
 * is lost. So if someone polls readiness, the socket stays open for three more seconds, in which the balancer learns that the
 * instance is not ready and sends requests elsewhere. Otherwise it closes immediately.
 */
export class GracefulShutdown {
  /** The start and end of the current series of readiness checks without a long gap; times of `performance.now()`. */
  private since = -Infinity;
  private last = -Infinity;

  /** Records a readiness check. */
  asked(): void {
    const now = performance.now();
    if (now - this.last > WATCHED_WITHIN_MS) this.since = now;
    this.last = now;
  }

  /** Resolves when the listening socket may be closed. */
  async finish(): Promise<void> {
    const isWatched =
      performance.now() - this.last < WATCHED_WITHIN_MS && this.last - this.since >= ASKED_FOR_MS;
    if (isWatched) await new Promise((resolve) => setTimeout(resolve, STAY_OPEN_MS));
  }
}
