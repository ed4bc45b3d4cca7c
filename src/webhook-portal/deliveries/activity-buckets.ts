import { DAY_MS, HOUR_MS } from '../../config/durations.js';
import { sumOf } from '../../web/charts/numbers.js';
import { bucketsOf } from '../../web/charts/time-buckets.js';
import type { EndpointHour } from '../../webhooks/endpoints/endpoint-hour.js';

/** The attempts of an hour, or of a day. */
export interface ActivityBucket {
  start: Date;
  delivered: number;
  failed: number;
  /** The average over all its attempts; undefined without attempts. */
  averageMs?: number;
  slowestMs?: number;
}

/** The last 24 hours by hour, or the last 7 days by day. */
export const ACTIVITY_RANGES = {
  '24h': { bucketMs: HOUR_MS, count: 24 },
  '7d': { bucketMs: DAY_MS, count: 7 },
};
export type ActivityRange = keyof typeof ACTIVITY_RANGES;

/** All buckets of the range, oldest first, including those without attempts. */
export const activityBuckets = (hours: EndpointHour[], range: ActivityRange, now: Date): ActivityBucket[] =>
  bucketsOf(hours, ACTIVITY_RANGES[range], now).map((bucket) => bucketOf(bucket.start, bucket.hours));

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
