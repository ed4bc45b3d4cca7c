/**
 * Asserts only that at least this much time has passed; a busy machine can only make it longer. That something is fast is proven
 * by the events it precedes (CONTRIBUTING.md).
 */
export function stopwatch(): { expectAtLeast(milliseconds: number): void } {
  const begun = performance.now();
  // A timer may fire a fraction of a millisecond early.
  return {
    expectAtLeast: (milliseconds) => expect(performance.now() - begun + 1).toBeGreaterThan(milliseconds),
  };
}
