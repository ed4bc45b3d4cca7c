import { HOUR_MS } from '#platform/config/durations.js';
import { REFUSALS, type ActivityKind, type HourlyTotal } from '#records/activity/activity.js';
import { sumOf } from '#platform/web/charts/numbers.js';
import { bucketsOf, rangeStart } from '#platform/web/charts/ranges.js';
import { pathWith } from '../pages/lists.js';
import { DELIVERIES_PATH } from '../pages/resource-link.js';
import type { HourlyAttempts } from '#events/webhooks/endpoints/endpoint-health.js';

/** Twice the longest range, so that it can be compared with the one before. */
const TWO_WEEKS = { bucketMs: HOUR_MS, count: 14 * 24 };

/** One kind of activity over the last two weeks: a number for every hour, the current one last. */
export interface Series {
  label: string;
  tone: 'good' | 'bad';
  hours: { hour: Date; count: number }[];
  /** The list of what was counted between two times. */
  listOf?: (from: Date, to: Date) => string;
  /** A link to the page with details. */
  more?: string;
}

const deliveriesIn =
  (state: 'delivered' | 'failed') =>
  (from: Date, to: Date): string =>
    pathWith(DELIVERIES_PATH, { state, from: textOf(from), to: textOf(to) });

const textOf = (time: Date): string => time.toISOString().replace('.000', '');

/** The first hour shown. */
export const firstHour = (now: Date): Date => rangeStart(TWO_WEEKS, now);

/** The activity shown on the front page; hours without any count as zero. */
export function seriesOf(activity: HourlyTotal[], attempts: HourlyAttempts[], now: Date): Series[] {
  const ofKinds = (kinds: ActivityKind[]) =>
    activity.filter(({ kind }) => kinds.includes(kind)).map(({ hour, count }) => ({ hour, count }));
  const series = (label: string, tone: Series['tone'], counts: { hour: Date; count: number }[]): Series => ({
    label,
    tone,
    hours: bucketsOf(counts, TWO_WEEKS, now).map(({ start, hours }) => ({
      hour: start,
      count: sumOf(hours.map(({ count }) => count)),
    })),
  });
  return [
    series('Tokens issued', 'good', ofKinds(['token_issued'])),
    { ...series('Requests refused', 'bad', ofKinds(REFUSALS)), more: '#refused-clients' },
    { ...series('Failed logins', 'bad', ofKinds(['sign_in_refused'])), more: '#refused-logins' },
    {
      ...series(
        'Successful deliveries',
        'good',
        attempts.map(({ hour, delivered }) => ({ hour, count: delivered })),
      ),
      listOf: deliveriesIn('delivered'),
    },
    {
      ...series(
        'Failed delivery attempts',
        'bad',
        attempts.map(({ hour, failed }) => ({ hour, count: failed })),
      ),
      listOf: deliveriesIn('failed'),
    },
  ];
}
