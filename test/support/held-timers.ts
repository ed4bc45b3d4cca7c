const real = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout };
// As long as a timer can be: what is held goes off when the test says so.
const NEVER_MS = 2 ** 31 - 1;

interface Held {
  goOff: () => void;
  ms: number;
}

/**
 * A clock that the test holds, for one limit of a service that runs in the test's own process: timers (`setTimeout`) of one
 * length, in milliseconds, stand still until the test lets them go off. Every other timer goes on. So a test shows what a limit
 * does when it is over, and that nothing happens before, however busy the machine is.
 */
export class HeldTimers {
  private static readonly active = new Set<HeldTimers>();
  /** What stands for a timer that was held when its clock was released. */
  private static readonly resumed = new Map<NodeJS.Timeout, NodeJS.Timeout>();
  private readonly held = new Map<NodeJS.Timeout, Held>();

  private constructor(
    private readonly least: number,
    private readonly most: number,
    private readonly by: string,
  ) {}

  /**
   * From now on timers of this length, or of a length between the two, stand still until {@link release}; where `by` is a part of
   * a path, those alone that a file there sets. Of two that hold the same timer it is the later's.
   */
  static hold(least: number, most = least, by = ''): HeldTimers {
    const timers = new HeldTimers(least, most, by);
    this.active.add(timers);
    globalThis.setTimeout = Object.assign(this.set.bind(this), real.setTimeout) as typeof setTimeout;
    globalThis.clearTimeout = this.clear.bind(this) as typeof clearTimeout;
    return timers;
  }

  /** How many stand still: set, and not cleared since. */
  get count(): number {
    return this.held.size;
  }

  /** Their time is over: each that stands still now goes off, as after its whole length. */
  letPass(): void {
    const due = [...this.held];
    this.held.clear();
    for (const [timer, { goOff }] of due) {
      real.clearTimeout(timer);
      goOff();
    }
  }

  /** New timers go on as ever; those that stand still begin anew. */
  release(): void {
    HeldTimers.active.delete(this);
    for (const [timer, { goOff, ms }] of this.held) {
      real.clearTimeout(timer);
      HeldTimers.resumed.set(timer, real.setTimeout(goOff, ms).unref());
    }
    this.held.clear();
  }

  private holds(ms: number): boolean {
    return ms >= this.least && ms <= this.most && (this.by === '' || new Error().stack!.includes(this.by));
  }

  private static set(callback: (...args: unknown[]) => void, ms = 0, ...args: unknown[]): NodeJS.Timeout {
    const holder = [...this.active].reverse().find((each) => each.holds(ms));
    if (!holder) return real.setTimeout(callback, ms, ...args);
    const timer = real.setTimeout(() => undefined, NEVER_MS).unref();
    holder.held.set(timer, { goOff: () => callback(...args), ms });
    return timer;
  }

  private static clear(timer: NodeJS.Timeout | undefined): void {
    for (const { held } of this.active) held.delete(timer!);
    real.clearTimeout(this.resumed.get(timer!));
    real.clearTimeout(timer);
  }
}

/** Lets everything happen that is due: promises, what came over sockets, timers without a length. No time needs to pass. */
export async function turns(count = 5): Promise<void> {
  for (let n = 0; n < count; n++) await new Promise((resolve) => setImmediate(resolve));
}
