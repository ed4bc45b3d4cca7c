/**
 * The process's own clock, by which requests are counted, put forward without waiting. For services that run in the test's
 * own process: Redis and the database go by other clocks.
 */
export class Clock {
  private ahead = 0;
  private readonly spy: jest.SpyInstance<number, []>;

  constructor() {
    const now = performance.now.bind(performance);
    this.spy = jest.spyOn(performance, 'now').mockImplementation(() => now() + this.ahead);
  }

  forward(seconds: number): void {
    this.ahead += seconds * 1000;
  }

  /** Puts the real clock back. */
  restore(): void {
    this.spy.mockRestore();
  }
}
