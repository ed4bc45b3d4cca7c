import { atEndOfFile } from './between-files.js';

const now = performance.now.bind(performance);
let ahead = 0;
let heldAt: number | undefined;

function change(): void {
  if (performance.now === changed) return;
  performance.now = changed;
  atEndOfFile(() => {
    performance.now = now;
    ahead = 0;
    heldAt = undefined;
  });
}

const changed = (): number => (heldAt ?? now()) + ahead;

/**
 * Moves the process's own clock, which times the counting of requests, forward without waiting, until the end of the test file;
 * that clock never goes back. For services that run in the test's own process: Redis and the database use other clocks.
 */
export function putClockForward(seconds: number): void {
  change();
  ahead += seconds * 1000;
}

/**
 * Stops the process's own clock at a whole millisecond, where rounding to microseconds loses nothing. It can then only be moved
 * forward; the returned function lets it run again from there.
 */
export function holdClock(): () => void {
  change();
  const from = Math.ceil(now() + ahead) - ahead;
  heldAt = from;
  return () => {
    heldAt = undefined;
    ahead -= now() - from;
  };
}
