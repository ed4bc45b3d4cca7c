import type { VNode } from 'preact';
import type { HourOfAll } from '../../activity/hour-of-all.js';
import { BarChart } from '../../web/charts/bar-chart.js';
import { formatCount, sumOf } from '../../web/charts/numbers.js';
import { bucketsOf } from '../../web/charts/time-buckets.js';
import { Facts } from '../../web/tables/facts.js';
import { periodsOf } from '../../web/charts/periods.js';
import { ACTIVITY_RANGES, type ActivityRange } from '../deliveries/activity-buckets.js';
import type { PortalPage } from '../frame/portal-layout.js';

const PATH = '/portal/usage';
const RANGES = { '24h': '24 hours', '7d': '7 days' };
const part = (options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC' });
const HOUR = part({ day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });
const DAY = part({ weekday: 'short', day: 'numeric', month: 'short' });
const TIME_OF_DAY = part({ hour: '2-digit', minute: '2-digit' });
const WEEKDAY = part({ weekday: 'short' });

/** The requests of an hour, or of a day. */
export interface UsageBucket {
  start: Date;
  served: number;
  /** Answered with 429. */
  limited: number;
}

export interface UsagePageProps {
  range: ActivityRange;
  buckets: UsageBucket[];
  /** Requests in a rolling hour, and how many the client itself can send now. */
  limit: number;
  remaining: number;
}

/** All buckets of the range, oldest first, including those without requests. */
export const usageBuckets = (hours: HourOfAll[], range: ActivityRange, now: Date): UsageBucket[] =>
  bucketsOf(hours, ACTIVITY_RANGES[range], now).map(({ start, hours: inside }) => {
    const count = (kind: HourOfAll['kind']) =>
      sumOf(inside.filter((each) => each.kind === kind).map((each) => each.count));
    const limited = count('rate_limited');
    return { start, served: Math.max(0, count('request') - limited), limited };
  });

/** How many requests the client sent, and how that compares with its limit. */
export function usagePage({ range, buckets, limit, remaining }: UsagePageProps): PortalPage {
  const served = sumOf(buckets.map((bucket) => bucket.served));
  const limited = sumOf(buckets.map((bucket) => bucket.limited));
  const labels = buckets.map(({ start }, n) => {
    if (range === '7d') return WEEKDAY.format(start);
    return (buckets.length - 1 - n) % 4 === 0 ? TIME_OF_DAY.format(start) : '';
  });
  return {
    title: 'Usage',
    part: 'usage',
    children: (
      <>
        <Facts
          facts={[
            ['Limit', `${formatCount(limit)} requests in any hour`],
            ['What remains now', `${formatCount(remaining)} requests`],
            [`Answered with 429, last ${RANGES[range]}`, formatCount(limited)],
          ]}
        />
        <p class="muted">
          The limit applies to the client with its own token, and again to each user who authorized it. What
          remains is that of the client’s own token. Requests for tokens have a limit of their own.
        </p>
        <section>
          <div class="section-head">
            <h2 id="over-time">Requests</h2>
            <p class="switch">
              {Object.entries(RANGES).map(([each, label]) => (
                <a
                  href={each === '24h' ? PATH : `${PATH}?range=${each}`}
                  {...(each === range ? { 'aria-current': 'true' as const } : {})}
                >
                  {label}
                </a>
              ))}
            </p>
          </div>
          {served + limited === 0 ? (
            <p class="empty">This client sent no requests in the last {RANGES[range]}.</p>
          ) : (
            <>
              <div class="charts">
                <figure>
                  <figcaption>
                    Requests: <span class="key key-delivered">answered</span>{' '}
                    <span class="key key-failed">over a limit (429)</span>
                  </figcaption>
                  <BarChart
                    id="chart-requests"
                    description={`Requests of the last ${RANGES[range]}, by the ${range === '24h' ? 'hour' : 'day'}: ${served} answered, ${limited} over a limit.`}
                    labels={labels}
                    periods={periodsOf(buckets, range)}
                    series={[
                      {
                        class: 'chart-delivered',
                        name: 'answered',
                        values: buckets.map((bucket) => bucket.served),
                      },
                      {
                        class: 'chart-failed',
                        name: 'over a limit',
                        values: buckets.map((bucket) => bucket.limited),
                      },
                    ]}
                  />
                </figure>
              </div>
              <details>
                <summary>View as table</summary>
                <UsageTable buckets={buckets} range={range} />
              </details>
            </>
          )}
        </section>
      </>
    ),
  };
}

const UsageTable = ({ buckets, range }: Pick<UsagePageProps, 'buckets' | 'range'>): VNode => (
  <div class="scrolling" role="region" aria-label="Requests as a table" tabIndex={0}>
    <table>
      <thead>
        <tr>
          <th scope="col">{range === '24h' ? 'Hour (UTC)' : 'Day (UTC)'}</th>
          <th scope="col">Answered</th>
          <th scope="col">Over a limit (429)</th>
        </tr>
      </thead>
      <tbody>
        {buckets.map(({ start, served, limited }) => (
          <tr>
            <th scope="row">{(range === '24h' ? HOUR : DAY).format(start)}</th>
            <td>{served}</td>
            <td>{limited}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);
