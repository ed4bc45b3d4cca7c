import { setTimeout as pause } from 'node:timers/promises';
import { legible } from './legible.js';
import { FatalError, PassingError, PositionLostError, type FeedPage, type Service } from './service.js';

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;

/** Waits until it is worth trying again: the first time soon, then ever later. Never throws. */
export class Pauses {
  private waitMs = 0;

  constructor(private readonly stop: AbortSignal) {}

  /** Whether it has waited since the last success, but for the first time, which may be nothing. */
  get areLong(): boolean {
    return this.waitMs > FIRST_WAIT_MS;
  }

  get isFirst(): boolean {
    return this.waitMs === 0;
  }

  end(): void {
    this.waitMs = 0;
  }

  async wait(milliseconds?: number): Promise<void> {
    this.waitMs = Math.min(LONGEST_WAIT_MS, Math.max(FIRST_WAIT_MS, this.waitMs * 2));
    await pause(milliseconds ?? this.waitMs, undefined, { signal: this.stop }).catch(() => undefined);
  }
}

/** How a feed is followed. */
export interface Following {
  /** Where it begins. */
  page: string;
  /** Takes a page; the next one is asked for when it is done. */
  take: (page: FeedPage) => Promise<void>;
  /** Where it goes on when events after the last one are not kept any more; throws a FatalError if it does not. */
  lost: () => string;
  print: (line: string) => void;
  stop: AbortSignal;
}

/** Reads the feed until the signal; throws a FatalError if trying again cannot help. */
export async function follow(
  service: Service,
  { page: first, take, lost, print, stop }: Following,
): Promise<void> {
  const pauses = new Pauses(stop);
  let page = first;
  while (!stop.aborted) {
    try {
      const read = await service.read(page, stop);
      if (pauses.areLong) print('The service can be reached again.');
      pauses.end();
      await take(read);
      page = read.next;
    } catch (error) {
      if (stop.aborted) return;
      if (error instanceof PositionLostError) {
        const next = lost();
        if (next === page) throw new FatalError(error.message);
        page = next;
        // A service that forgets every position is not to be asked without a pause.
        await pauses.wait(FIRST_WAIT_MS);
        pauses.end();
        continue;
      }
      if (!(error instanceof PassingError))
        throw error instanceof FatalError ? error : new FatalError((error as Error).message);
      // The first time it may only be a token that has ended, or a connection that was closed.
      if (!pauses.isFirst) print(legible(`Trying again: ${error.message}`));
      await pauses.wait(error.retryAfterMs);
    }
  }
}
