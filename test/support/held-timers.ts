import { atEndOfFile } from './between-files.js';

const real = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout };
// The maximum length of a timer: held timers fire when the test says so.
const NEVER_MS = 2 ** 31 - 1;

type Callback = (...args: unknown[]) => void;

interface Held {
  goOff: () => void;
  ms: number;
}

/**
 * A clock under the test's control, for one limit of a service that runs in the test's own process: timers (`setTimeout`) of one
 * length, in milliseconds, are held until the test lets them fire. All other timers run normally. This way a test shows what
 * happens when a limit is reached, and that nothing happens before, however busy the machine is.
 */
export class HeldTimers {
  private static readonly active = new Set<HeldTimers>();
  /** The timers that replaced held timers when their clock was released. */
  private static readonly resumed = new Map<NodeJS.Timeout, NodeJS.Timeout>();
  private readonly held = new Map<NodeJS.Timeout, Held>();

  private constructor(
    private readonly least: number,
    private readonly most: number,
    private readonly by: string,
  ) {}

  /**
   * Holds timers of this length, or of a length between the two, from now on until {@link release}, or until the end of the test
   * file; with `by`, only timers that a file whose path contains it sets itself. If two clocks match a timer, the later one holds it.
   */
  static hold(least: number, most = least, by = ''): HeldTimers {
    const timers = this.holdAlways(least, most, by);
    atEndOfFile(() => timers.release());
    return timers;
  }

  /** The same in all test files that this worker runs from now on. */
  static holdAlways(least: number, most: number, by: string): HeldTimers {
    const timers = new HeldTimers(least, most, by);
    this.active.add(timers);
    globalThis.setTimeout = Object.assign(this.set.bind(this), real.setTimeout) as typeof setTimeout;
    globalThis.clearTimeout = this.clear.bind(this) as typeof clearTimeout;
    return timers;
  }

  /** How many timers are held: set, and not cleared since. */
  get count(): number {
    return this.held.size;
  }

  /** Fires every timer that is held now, as after its full length. */
  letPass(): void {
    const due = [...this.held];
    this.held.clear();
    for (const [timer, { goOff }] of due) {
      real.clearTimeout(timer);
      goOff();
    }
  }

  /** New timers run normally again; held timers start over with their full length. */
  release(): void {
    HeldTimers.active.delete(this);
    for (const [timer, { goOff, ms }] of this.held) {
      real.clearTimeout(timer);
      HeldTimers.resumed.set(timer, real.setTimeout(goOff, ms).unref());
    }
    this.held.clear();
  }

  private holds(ms: number, callback: Callback): boolean {
    return ms >= this.least && ms <= this.most && (this.by === '' || fileOf(callback).includes(this.by));
  }

  private static set(callback: Callback, ms = 0, ...args: unknown[]): NodeJS.Timeout {
    const holder = [...this.active].reverse().find((each) => each.holds(ms, callback));
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

/** A function of this length is found in one file only, unlike `resolve` or `() => resolve()`. */
const TELLING_LENGTH = 60;
const files = new Map<string, string>();

/** The file that sets the timer; what is below it may be a driver's timer for the same work. Drivers set thousands of them. */
function fileOf(callback: Callback): string {
  const source = callback.toString();
  const known = files.get(source);
  if (known !== undefined) return known;
  const file = callerOf(HeldTimers['set']);
  if (source.length >= TELLING_LENGTH) files.set(source, file);
  return file;
}

function callerOf(set: (...args: never[]) => unknown): string {
  const { prepareStackTrace, stackTraceLimit } = Error;
  // One frame, and as it is: mapping it to its source would take longer than everything else.
  Error.stackTraceLimit = 1;
  Error.prepareStackTrace = (_error, frames) => frames[0]?.getFileName() ?? '';
  const at: { stack?: string } = {};
  Error.captureStackTrace(at, set);
  const file = at.stack!;
  Object.assign(Error, { prepareStackTrace, stackTraceLimit });
  return file;
}

/** Lets everything that is due happen: promises, data from sockets, timers without a length. No time needs to pass. */
export async function turns(count = 5): Promise<void> {
  for (let n = 0; n < count; n++) await new Promise((resolve) => setImmediate(resolve));
}
