import type { VNode } from 'preact';
import { BarChart } from '../../web/charts/bar-chart.js';
import { LineChart } from '../../web/charts/line-chart.js';
import { formatCount, formatMs, sumOf } from '../../web/charts/numbers.js';
import { utcFieldValue } from '../frame/utc-time.js';
import { ACTIVITY_RANGES, type ActivityBucket, type ActivityRange } from './activity-buckets.js';
import { successRate } from '../endpoints/endpoint-state.js';
import { periodsOf } from '../../web/charts/periods.js';

export interface ActivityProps {
  /** Path of the page, which shows the other range with `?range=`. */
  path: string;
  endpointId: string;
  buckets: ActivityBucket[];
  range: ActivityRange;
}

/** The deliveries of a bucket in a state. */
const listOf = (
  { endpointId, range }: Pick<ActivityProps, 'endpointId' | 'range'>,
  { start }: ActivityBucket,
  state: 'delivered' | 'failed',
): string => {
  const end = new Date(start.getTime() + ACTIVITY_RANGES[range].bucketMs);
  const filter = { state, endpoint: endpointId, from: utcFieldValue(start), to: utcFieldValue(end) };
  return `/portal/deliveries?${new URLSearchParams(filter).toString()}`;
};

const TIME_OF_DAY = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'UTC' });
const WEEKDAY = new Intl.DateTimeFormat('en-GB', { weekday: 'short', timeZone: 'UTC' });

const RANGES = { '24h': '24 hours', '7d': '7 days' };

/** An endpoint's attempts over time: two charts, and the same data as a table. */
export function Activity({ path, endpointId, buckets, range }: ActivityProps): VNode {
  const of = { endpointId, range };
  const periods = periodsOf(buckets, range);
  const bars = (state: 'delivered' | 'failed') => ({
    class: `chart-${state}`,
    name: state,
    values: buckets.map((bucket) => bucket[state]),
    hrefOf: (n: number) => listOf(of, buckets[n]!, state),
  });
  const delivered = sumOf(buckets.map((bucket) => bucket.delivered));
  const failed = sumOf(buckets.map((bucket) => bucket.failed));
  const slowest = Math.max(...buckets.map(({ slowestMs }) => slowestMs ?? 0));
  const labels = buckets.map(({ start }, n) => {
    if (range === '7d') return WEEKDAY.format(start);
    return (buckets.length - 1 - n) % 4 === 0 ? TIME_OF_DAY.format(start) : '';
  });
  return (
    <section>
      <div class="section-head">
        <h2 id="activity">Activity</h2>
        <p class="switch">
          {Object.entries(RANGES).map(([each, label]) => (
            <a
              href={each === '24h' ? `${path}#activity` : `${path}?range=${each}#activity`}
              {...(each === range ? { 'aria-current': 'true' as const } : {})}
            >
              {label}
            </a>
          ))}
        </p>
      </div>
      {delivered + failed === 0 ? (
        <p class="empty">Nothing was sent to this endpoint in the last {RANGES[range]}.</p>
      ) : (
        <>
          <p>
            <strong>{successRate({ delivered, failed })}</strong> of {formatCount(delivered + failed)}{' '}
            {delivered + failed === 1 ? 'attempt' : 'attempts'} succeeded. Times are in UTC.
          </p>
          <div class="charts">
            <figure>
              <figcaption>
                Attempts: <span class="key key-delivered">delivered</span>{' '}
                <span class="key key-failed">failed</span>
              </figcaption>
              <BarChart
                id="chart-deliveries"
                description={`Attempts of the last ${RANGES[range]}, by the ${range === '24h' ? 'hour' : 'day'}: ${delivered} delivered, ${failed} failed.`}
                labels={labels}
                periods={periods}
                series={[bars('delivered'), bars('failed')]}
              />
            </figure>
            <figure>
              <figcaption>
                Response time: <span class="key key-average">average</span>{' '}
                <span class="key key-slowest">slowest</span>
              </figcaption>
              <LineChart
                id="chart-response-times"
                description={`Response times: the slowest attempt took ${formatMs(slowest)}.`}
                labels={labels}
                periods={periods}
                series={[
                  {
                    class: 'chart-slowest',
                    name: 'slowest',
                    values: buckets.map(({ slowestMs }) => slowestMs),
                  },
                  {
                    class: 'chart-average',
                    name: 'average',
                    values: buckets.map(({ averageMs }) => averageMs),
                  },
                ]}
              />
            </figure>
          </div>
          <details>
            <summary>View as table</summary>
            <ActivityTable endpointId={endpointId} buckets={buckets} range={range} />
          </details>
        </>
      )}
    </section>
  );
}

function ActivityTable({ endpointId, buckets, range }: Omit<ActivityProps, 'path'>): VNode {
  const count = (bucket: ActivityBucket, state: 'delivered' | 'failed') =>
    bucket[state] === 0 ? '0' : <a href={listOf({ endpointId, range }, bucket, state)}>{bucket[state]}</a>;
  return (
    <div class="scrolling" role="region" aria-label="Activity as a table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">{range === '24h' ? 'Hour (UTC)' : 'Day (UTC)'}</th>
            <th scope="col">Delivered</th>
            <th scope="col">Failed</th>
            <th scope="col">Average</th>
            <th scope="col">Slowest</th>
          </tr>
        </thead>
        <tbody>
          {buckets.map((bucket) => (
            <tr>
              <th scope="row">{periodsOf([bucket], range)}</th>
              <td>{count(bucket, 'delivered')}</td>
              <td>{count(bucket, 'failed')}</td>
              <td>{bucket.averageMs === undefined ? '–' : formatMs(bucket.averageMs)}</td>
              <td>{bucket.slowestMs === undefined ? '–' : formatMs(bucket.slowestMs)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
