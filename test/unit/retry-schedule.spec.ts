import fc from 'fast-check';
import { waitBeforeRetry } from '#events/webhooks/deliveries/retry-schedule.js';

const SCHEDULE = [5, 300, 1800];
const DAY = 86_400;

describe('the wait before a retry', () => {
  it('does not exist if the schedule is used up, whatever the receiver requests', () => {
    for (const retries of [3, 4, 100]) {
      expect(waitBeforeRetry(SCHEDULE, retries)).toBeUndefined();
      expect(waitBeforeRetry(SCHEDULE, retries, 10_000)).toBeUndefined();
    }
    expect(waitBeforeRetry([], 0)).toBeUndefined();
  });

  it('is that of the schedule, up to a tenth longer or shorter at random', () => {
    for (const [retries, seconds] of SCHEDULE.entries()) {
      expect(waitBeforeRetry(SCHEDULE, retries, undefined, () => 0)).toBeCloseTo(seconds * 0.9);
      expect(waitBeforeRetry(SCHEDULE, retries, undefined, () => 0.5)).toBeCloseTo(seconds);
      expect(waitBeforeRetry(SCHEDULE, retries, undefined, () => 1)).toBeCloseTo(seconds * 1.1);
    }
    expect(new Set(Array.from({ length: 20 }, () => waitBeforeRetry(SCHEDULE, 2))).size).toBeGreaterThan(10);
  });

  it('is the one the receiver requests, if that is longer, up to 24 hours', () => {
    expect(waitBeforeRetry(SCHEDULE, 0, 60_000)).toBe(60);
    expect(waitBeforeRetry(SCHEDULE, 0, 1000, () => 0.5)).toBeCloseTo(5);
    expect(waitBeforeRetry(SCHEDULE, 0, 10 * DAY * 1000)).toBe(DAY);
    expect(waitBeforeRetry([7 * DAY], 0, 10 * DAY * 1000, () => 0.5)).toBeCloseTo(7 * DAY);
  });

  it('is always within these limits', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 604_800 }), { minLength: 1, maxLength: 50 }),
        fc.nat(49),
        fc.integer({ min: 0, max: 2_000_000_000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (schedule, retries, retryAfterMs, chance) => {
          const wait = waitBeforeRetry(schedule, retries, retryAfterMs, () => chance);
          if (retries >= schedule.length) return wait === undefined;
          const asked = Math.min(retryAfterMs / 1000, DAY);
          return (
            wait! >= Math.max(schedule[retries]! * 0.9 - 1e-6, asked) &&
            wait! <= Math.max(schedule[retries]! * 1.1 + 1e-6, asked)
          );
        },
      ),
    );
  });
});
