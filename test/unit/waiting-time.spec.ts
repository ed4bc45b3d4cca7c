import { waitingTime } from '#access/rate-limits/waiting-time.js';

describe('the waiting time for people', () => {
  it.each([
    [1, '1 second'],
    [59, '59 seconds'],
    [60, '1 minute'],
    [61, '2 minutes'],
    [899, '15 minutes'],
    [3600, '60 minutes'],
  ])('of %d s is rounded up to %s', (seconds, words) => expect(waitingTime(seconds)).toBe(words));
});
