import { DAY_MS, HOUR_MS } from '#platform/config/durations.js';

/** The last 24 hours by the hour, or the last 7 days by the day. */
export const RANGES = {
  '24h': { bucketMs: HOUR_MS, count: 24, words: '24 hours' },
  '7d': { bucketMs: DAY_MS, count: 7, words: '7 days' },
};
export type Range = keyof typeof RANGES;

/** The range that a query asks for. */
export const rangeIn = (given: unknown): Range => (given === '7d' ? '7d' : '24h');

const TIME_OF_DAY = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'UTC' });
const WEEKDAY = new Intl.DateTimeFormat('en-GB', { weekday: 'short', timeZone: 'UTC' });

/** What stands under the values of a chart: every day, or every fourth hour. */
export const labelsOf = (buckets: readonly { start: Date }[], range: Range): string[] =>
  buckets.map(({ start }, n) => {
    if (range === '7d') return WEEKDAY.format(start);
    return (buckets.length - 1 - n) % 4 === 0 ? TIME_OF_DAY.format(start) : '';
  });
