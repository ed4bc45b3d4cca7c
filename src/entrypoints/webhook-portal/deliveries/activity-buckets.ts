import { RANGES, type Range, bucketsOf } from '#platform/web/charts/ranges.js';
import { sumOf } from '#platform/web/charts/numbers.js';
import type { EndpointHour } from '#events/webhooks/endpoints/endpoint-health.js';

/** The attempts of an hour, or of a day. */
export interface ActivityBucket {
  start: Date;
  delivered: number;
  failed: number;
  /** The average over all its attempts; undefined without attempts. */
  averageMs?: number;
  slowestMs?: number;
}

/** All buckets of the range, oldest first, including those without attempts. */
export const activityBuckets = (hours: EndpointHour[], range: Range, now: Date): ActivityBucket[] =>
  bucketsOf(hours, RANGES[range], now).map((bucket) => bucketOf(bucket.start, bucket.hours));

function bucketOf(start: Date, hours: EndpointHour[]): ActivityBucket {
  const delivered = sumOf(hours.map((hour) => hour.delivered));
  const failed = sumOf(hours.map((hour) => hour.failed));
  const all = delivered + failed;
  if (all === 0) return { start, delivered, failed };
  const totalMs = sumOf(hours.map((hour) => hour.averageMs * (hour.delivered + hour.failed)));
  return {
    start,
    delivered,
    failed,
    averageMs: Math.round(totalMs / all),
    slowestMs: Math.max(...hours.map(({ slowestMs }) => slowestMs)),
  };
}
