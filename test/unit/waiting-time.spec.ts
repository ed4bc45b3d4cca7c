import { waitingTime } from '../../src/rate-limits/waiting-time.js';

describe('how long to wait, for a person', () => {
  it.each([
    [1, '1 second'],
    [59, '59 seconds'],
    [60, '1 minute'],
    [61, '2 minutes'],
    [899, '15 minutes'],
    [3600, '60 minutes'],
  ])('%d s is %s: never less', (seconds, words) => expect(waitingTime(seconds)).toBe(words));
});
