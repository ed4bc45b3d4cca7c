import { until } from './until.js';

const HOUR_MS = 3_600_000;
// Longer than any test with charts takes, also when the machine stops for a while.
const ROOM_MS = 60_000;

/** Waits for the next hour if this one is nearly over, for tests of what is counted by the hour, or by the day of UTC. */
export const untilHourHasRoom = (): Promise<void> =>
  until('the hour has room', () => HOUR_MS - (Date.now() % HOUR_MS) > ROOM_MS);
