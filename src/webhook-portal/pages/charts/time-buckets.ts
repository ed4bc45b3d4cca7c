import { DAY_MS, HOUR_MS } from '../../../config/durations.js';
import type { EndpointHour } from '../../../webhooks/endpoints/endpoint-hour.js';

/** One bar of a chart: the attempts of an hour, or of a day. */
export interface Bucket {
  start: Date;
  delivered: number;
  failed: number;
  /** The average over all its attempts; undefined without attempts. */
  averageMs?: number;
  slowestMs?: number;
}

/** The range of a chart: the last 24 hours by hour, or the last 7 days by day, in UTC. */
export type ChartRange = '24h' | '7d';

const RANGES = { '24h': { bucketMs: HOUR_MS, count: 24 }, '7d': { bucketMs: DAY_MS, count: 7 } };

/** The start of the first bucket. */
export function rangeStart(range: ChartRange, now: Date): Date {
  const { bucketMs, count } = RANGES[range];
  return new Date(Math.floor(now.getTime() / bucketMs) * bucketMs - (count - 1) * bucketMs);
}

/** All buckets of the range, oldest first, including those without attempts. */
export function bucketsOf(hours: EndpointHour[], range: ChartRange, now: Date): Bucket[] {
  const { bucketMs, count } = RANGES[range];
  const first = rangeStart(range, now).getTime();
  return Array.from({ length: count }, (_, index) => {
    const start = new Date(first + index * bucketMs);
    return bucketOf(
      start,
      hours.filter(({ hour }) => Math.floor((hour.getTime() - first) / bucketMs) === index),
    );
  });
}

function bucketOf(start: Date, hours: EndpointHour[]): Bucket {
  const sum = (of: (hour: EndpointHour) => number) => hours.reduce((total, hour) => total + of(hour), 0);
  const [delivered, failed] = [sum((hour) => hour.delivered), sum((hour) => hour.failed)];
  const all = delivered + failed;
  if (all === 0) return { start, delivered, failed };
  const totalMs = sum((hour) => hour.averageMs * (hour.delivered + hour.failed));
  return {
    start,
    delivered,
    failed,
    averageMs: Math.round(totalMs / all),
    slowestMs: Math.max(...hours.map(({ slowestMs }) => slowestMs)),
  };
}
