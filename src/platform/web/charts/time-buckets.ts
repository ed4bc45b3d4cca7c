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
