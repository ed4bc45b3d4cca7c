import type { HourlyTotal } from '#records/activity/activity.js';
import { BarChart } from '#platform/web/charts/bar-chart.js';
import { LegendEntry } from '#platform/web/charts/legend-entry.js';
import { formatCount, sumOf } from '#platform/web/charts/numbers.js';
import { Facts } from '#platform/web/tables/facts.js';
import { labelsOf, RANGES, type Range, periodsOf, bucketsOf } from '#platform/web/charts/ranges.js';
import { OverTime } from '../frame/over-time.js';
import type { PortalPage } from '../frame/portal-layout.js';

const PATH = '/portal/usage';

/** The requests of an hour, or of a day. */
export interface UsageBucket {
  start: Date;
  served: number;
  /** Answered with 429. */
  limited: number;
}

export interface UsagePageProps {
  range: Range;
  buckets: UsageBucket[];
  /** Requests in a rolling hour, and how many the client itself can send now. */
  limit: number;
  remaining: number;
}

/** All buckets of the range, oldest first, including those without requests. */
export const usageBuckets = (hours: HourlyTotal[], range: Range, now: Date): UsageBucket[] =>
  bucketsOf(hours, RANGES[range], now).map(({ start, hours: inside }) => {
    const count = (kind: HourlyTotal['kind']) =>
      sumOf(inside.filter((each) => each.kind === kind).map((each) => each.count));
    const limited = count('rate_limited');
    return { start, served: Math.max(0, count('request') - limited), limited };
  });

const requests = (count: number): string => `${formatCount(count)} ${count === 1 ? 'request' : 'requests'}`;

/** How many requests the client sent, and how that compares with its limit. */
export function usagePage({ range, buckets, limit, remaining }: UsagePageProps): PortalPage {
  const served = sumOf(buckets.map((bucket) => bucket.served));
  const limited = sumOf(buckets.map((bucket) => bucket.limited));
  return {
    title: 'Usage',
    part: 'usage',
    children: (
      <>
        <Facts
          facts={[
            ['Limit', `${requests(limit)} in any hour`],
            ['What remains now', requests(remaining)],
            [`Answered with 429, last ${RANGES[range].words}`, formatCount(limited)],
          ]}
        />
        <p class="muted">
          The limit applies to the client with its own token, and again to each user who authorized it. What
          remains is that of the client’s own token. Requests for tokens have a limit of their own.
        </p>
        <OverTime
          id="over-time"
          heading="Requests"
          path={PATH}
          range={range}
          buckets={buckets}
          empty={served + limited === 0 && `This client sent no requests in the last ${RANGES[range].words}.`}
          table={{
            label: 'Requests as a table',
            columns: [
              ['Answered', (bucket) => bucket.served],
              ['Over a limit (429)', (bucket) => bucket.limited],
            ],
          }}
        >
          <div class="charts">
            <figure>
              <figcaption>
                Requests: <LegendEntry tone="good">answered</LegendEntry>{' '}
                <LegendEntry tone="bad">over a limit (429)</LegendEntry>
              </figcaption>
              <BarChart
                id="chart-requests"
                description={`Requests of the last ${RANGES[range].words}, by the ${range === '24h' ? 'hour' : 'day'}: ${served} answered, ${limited} over a limit.`}
                labels={labelsOf(buckets, range)}
                periods={periodsOf(buckets, range)}
                series={[
                  { tone: 'good', name: 'answered', values: buckets.map((each) => each.served) },
                  {
                    tone: 'bad',
                    name: 'over a limit',
                    values: buckets.map((each) => each.limited),
                  },
                ]}
              />
            </figure>
          </div>
        </OverTime>
      </>
    ),
  };
}
