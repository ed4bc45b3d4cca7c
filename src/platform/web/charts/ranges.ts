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

const HOUR = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
  // Other times on the page may be in the reader's own zone.
  timeZoneName: 'short',
});
const DAY = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  timeZone: 'UTC',
});

/** The hour or the day of each value of a chart, in words. */
export const periodsOf = (buckets: readonly { start: Date }[], range: '24h' | '7d'): string[] =>
  buckets.map(({ start }) => (range === '24h' ? HOUR : DAY).format(start));

/** Equal parts of time, in UTC; the last one contains the present. */
export interface TimeRange {
  bucketMs: number;
  count: number;
}

/** The start of the first bucket. */
export function rangeStart({ bucketMs, count }: TimeRange, now: Date): Date {
  return new Date((Math.floor(now.getTime() / bucketMs) - (count - 1)) * bucketMs);
}

/** All buckets of the range, oldest first, with what belongs to each. */
export function bucketsOf<T extends { hour: Date }>(
  hours: T[],
  range: TimeRange,
  now: Date,
): { start: Date; hours: T[] }[] {
  const first = rangeStart(range, now).getTime();
  const buckets = Array.from({ length: range.count }, (_, n) => ({
    start: new Date(first + n * range.bucketMs),
    hours: [] as T[],
  }));
  for (const each of hours)
    buckets[Math.floor((each.hour.getTime() - first) / range.bucketMs)]?.hours.push(each);
  return buckets;
}
