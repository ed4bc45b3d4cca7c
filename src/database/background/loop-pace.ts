/** If the event loop is this late on average, requests are waiting. */
const BOUND_MS = 10;
const SAMPLE_EVERY_MS = 10;
const SAMPLES = 5;
/** A busy period is over when no work began during this many samples. */
const IDLE_SAMPLES = 100;

interface Bounds {
  /** However busy the event loop is: work slows down, but continues. */
  least: number;
  /** At the start of a busy period. */
  first: number;
  most: number;
}

/**
 * How much work of a kind may be under way, by the spare capacity of the event loop: less while it is late, because then requests are
 * waiting, otherwise more, up to a maximum. The event loop is only watched while work starts.
 */
export class LoopPace {
  private current: number;
  private timer: NodeJS.Timeout | undefined;
  private due = 0;
  private lateMs = 0;
  private samples = 0;
  /** Samples since the last work began. */
  private idle = 0;
  private isWanted = false;

  constructor(
    private readonly bounds: Bounds,
    /** Called when there is room for more. */
    private readonly onRoom: () => void,
    /** Called with each new limit. */
    private readonly onLimit: (limit: number) => void = () => undefined,
  ) {
    this.current = Math.min(bounds.first, bounds.most);
  }

  get limit(): number {
    return this.current;
  }

  /** Records that more work would have started if there had been room. */
  wantMore(): void {
    this.isWanted = true;
  }

  /** Call when work starts: watches the event loop from then on. */
  watch(): void {
    this.idle = 0;
    if (this.timer === undefined) this.sampleLater();
  }

  /** Ends a busy period; the next one starts as the first did. */
  private rest(): void {
    this.timer = undefined;
    this.lateMs = this.samples = 0;
    this.set(Math.min(this.bounds.first, this.bounds.most));
  }

  /** How late the event loop was on average over some samples. A single late turn may be caused by another process. */
  adapt(lateMs: number): void {
    const { least, most } = this.bounds;
    const quarter = Math.max(1, this.current >> 2);
    if (lateMs > BOUND_MS) this.set(Math.max(Math.min(least, most), this.current - quarter));
    else if (this.isWanted && this.current < most) {
      this.set(Math.min(most, this.current + quarter));
      this.isWanted = false;
      this.onRoom();
    }
  }

  private set(limit: number): void {
    this.current = limit;
    this.onLimit(limit);
  }

  private sampleLater(): void {
    this.due = performance.now() + SAMPLE_EVERY_MS;
    this.timer = setTimeout(() => this.sample(), SAMPLE_EVERY_MS).unref();
  }

  private sample(): void {
    this.lateMs += performance.now() - this.due;
    if (++this.samples === SAMPLES) {
      this.adapt(this.lateMs / SAMPLES);
      this.lateMs = this.samples = 0;
    }
    if (++this.idle > IDLE_SAMPLES) this.rest();
    else this.sampleLater();
  }
}
