/**
 * Says that at least so much time has passed, and nothing else: a busy machine only makes more of it. That something is quick
 * is said by what it happens before (CONTRIBUTING.md).
 */
export function stopwatch(): { expectAtLeast(milliseconds: number): void } {
  const begun = performance.now();
  // A timer may go off a fraction of a millisecond early.
  return {
    expectAtLeast: (milliseconds) => expect(performance.now() - begun + 1).toBeGreaterThan(milliseconds),
  };
}
