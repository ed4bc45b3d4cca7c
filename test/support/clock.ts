const now = performance.now.bind(performance);
let ahead = 0;
let heldAt: number | undefined;
performance.now = () => (heldAt ?? now()) + ahead;
afterAll(() => {
  performance.now = now;
});

/**
 * Puts the process's own clock, by which requests are counted, forward without waiting, until the end of the test file: that
 * clock never goes back. For services that run in the test's own process: Redis and the database go by other clocks.
 */
export function putClockForward(seconds: number): void {
  ahead += seconds * 1000;
}

/** From now on the process's own clock stands still, but for being put forward; what is given back lets it go on from there. */
export function holdClock(): () => void {
  const from = now();
  heldAt = from;
  return () => {
    heldAt = undefined;
    ahead -= now() - from;
  };
}
