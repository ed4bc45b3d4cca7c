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
