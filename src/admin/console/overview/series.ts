import { HOUR_MS } from '../../../config/durations.js';
import type { HourOfAll } from '../../../activity/hour-of-all.js';
import { REFUSALS, type ActivityKind } from '../../../activity/activity.js';
import type { HourOfAllEndpoints } from '../../../webhooks/endpoints/endpoint-hour.js';

const HOURS = 7 * 24;

/** One kind of activity over the last week: a number for every hour, the current one last. */
export interface Series {
  label: string;
  tone: 'good' | 'bad';
  hours: { hour: Date; count: number }[];
}

const hourOf = (time: Date): number => Math.floor(time.getTime() / HOUR_MS) * HOUR_MS;

/** The first hour shown. */
export const weekBefore = (now: Date): Date => new Date(hourOf(now) - (HOURS - 1) * HOUR_MS);

/** The activity shown on the front page; hours without any count as zero. */
export function seriesOf(activity: HourOfAll[], attempts: HourOfAllEndpoints[], now: Date): Series[] {
  const ofKinds = (kinds: ActivityKind[]) =>
    activity.filter(({ kind }) => kinds.includes(kind)).map(({ hour, count }) => ({ hour, count }));
  const series = (label: string, tone: Series['tone'], counts: { hour: Date; count: number }[]): Series => ({
    label,
    tone,
    hours: everyHour(counts, now),
  });
  return [
    series('Tokens issued', 'good', ofKinds(['token_issued'])),
    series('Requests refused', 'bad', ofKinds(REFUSALS)),
    series('Failed logins', 'bad', ofKinds(['sign_in_refused'])),
    series(
      'Successful deliveries',
      'good',
      attempts.map(({ hour, delivered }) => ({ hour, count: delivered })),
    ),
    series(
      'Failed delivery attempts',
      'bad',
      attempts.map(({ hour, failed }) => ({ hour, count: failed })),
    ),
  ];
}

function everyHour(counts: { hour: Date; count: number }[], now: Date): Series['hours'] {
  const sums = new Map<number, number>();
  for (const { hour, count } of counts) sums.set(hour.getTime(), (sums.get(hour.getTime()) ?? 0) + count);
  const first = weekBefore(now).getTime();
  return Array.from({ length: HOURS }, (_, n) => {
    const time = first + n * HOUR_MS;
    return { hour: new Date(time), count: sums.get(time) ?? 0 };
  });
}

export const sumOf = (hours: Series['hours']): number => hours.reduce((sum, { count }) => sum + count, 0);
