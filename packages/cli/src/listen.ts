import { setTimeout as pause } from 'node:timers/promises';
import { forward } from './forward.js';
import { legible } from './legible.js';
import type { ListenOptions } from './options.js';
import { FatalError, FIRST_PAGE, PassingError, PositionLostError, Service } from './service.js';

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;

/** Reads the feed and forwards, until the signal; throws a FatalError if trying again cannot help. */
export async function listen(
  options: ListenOptions,
  print: (line: string) => void,
  stop: AbortSignal,
): Promise<void> {
  const service = new Service(options);
  let page = FIRST_PAGE;
  let waitMs = 0;
  print(`Forwarding the events of ${options.url} to ${options.forward}; Ctrl-C ends.`);
  if (options.isNewSecret) print(`Signing secret: ${options.signingSecret}`);
  while (!stop.aborted) {
    try {
      const { events, next } = await service.read(page, stop);
      if (waitMs > FIRST_WAIT_MS) print('The service can be reached again.');
      waitMs = 0;
      for (const event of events) {
        const sent = await forward(event, { to: options.forward, secret: options.signingSecret, stop });
        print(lineOf(new Date(), [event.type, event.id, sent.outcome, `${sent.milliseconds} ms`]));
      }
      page = next;
    } catch (error) {
      if (stop.aborted) return;
      if (error instanceof PositionLostError && page !== FIRST_PAGE) {
        page = FIRST_PAGE;
        // A service that forgets every position is not to be asked without a pause.
        await pause(FIRST_WAIT_MS, undefined, { signal: stop }).catch(() => undefined);
        print('Events since the last one are not kept any more; going on with what comes from now on.');
        continue;
      }
      if (!(error instanceof PassingError))
        throw error instanceof FatalError ? error : new FatalError((error as Error).message);
      // The first time it may only be a token that has ended, or a connection that was closed.
      if (waitMs > 0) print(legible(`Trying again: ${error.message}`));
      waitMs = Math.min(LONGEST_WAIT_MS, Math.max(FIRST_WAIT_MS, waitMs * 2));
      await pause(error.retryAfterMs ?? waitMs, undefined, { signal: stop }).catch(() => undefined);
    }
  }
}

const lineOf = (time: Date, parts: string[]): string =>
  legible([time.toTimeString().slice(0, 8), ...parts].join('  '));
