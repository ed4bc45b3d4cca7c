/** The least number of attempts, however busy the event loop is: deliveries slow down, but continue. */
const LEAST = 8;
/** The limit at the start of a busy period. */
const FIRST = 32;
/** If the event loop is this late on average, requests are waiting. */
const BOUND_MS = 10;
const SAMPLE_EVERY_MS = 10;
const SAMPLES = 5;
/** A busy period is over when no attempt began during this many samples. */
const IDLE_SAMPLES = 100;

/**
 * How many attempts may run, by the spare capacity of the event loop: fewer while it is late, because then requests are waiting,
 * otherwise more, up to a maximum. The event loop is only watched while attempts start.
 */
export class DeliveryPace {
  private current: number;
  private timer: NodeJS.Timeout | undefined;
  private due = 0;
  private lateMs = 0;
  private samples = 0;
  /** Samples since the last attempt began. */
  private idle = 0;
  private isWanted = false;

  constructor(
    private readonly most: number,
    /** Called when there is room for more. */
    private readonly onRoom: () => void,
    /** Called with each new limit. */
    private readonly onLimit: (limit: number) => void = () => undefined,
  ) {
    this.current = Math.min(FIRST, most);
  }

  get limit(): number {
    return this.current;
  }

  /** Records that more attempts would have started if there had been room. */
  wantMore(): void {
    this.isWanted = true;
  }

  /** Call when an attempt starts: watches the event loop from then on. */
  watch(): void {
    this.idle = 0;
    if (this.timer === undefined) this.sampleLater();
  }

  /** Ends a busy period; the next one starts as the first did. */
  private rest(): void {
    this.timer = undefined;
    this.lateMs = this.samples = 0;
    this.set(Math.min(FIRST, this.most));
  }

  /** How late the event loop was on average over some samples. A single late turn may be caused by another process. */
  adapt(lateMs: number): void {
    if (lateMs > BOUND_MS) this.set(Math.max(Math.min(LEAST, this.most), this.current - (this.current >> 2)));
    else if (this.isWanted && this.current < this.most) {
      this.set(Math.min(this.most, this.current + Math.max(1, this.current >> 2)));
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
