import type { VNode } from 'preact';
import { BarChart } from '#platform/web/charts/bar-chart.js';
import { LegendEntry } from '#platform/web/charts/legend-entry.js';
import { LineChart } from '#platform/web/charts/line-chart.js';
import { formatCount, formatMs, sumOf } from '#platform/web/charts/numbers.js';
import { labelsOf, RANGES, type Range, periodsOf } from '#platform/web/charts/ranges.js';
import { OverTime } from '../frame/over-time.js';
import { utcFieldValue } from '#platform/web/forms/utc-time.js';
import type { ActivityBucket } from './activity-buckets.js';
import { successRate } from '../endpoints/endpoint-words.js';

export interface ActivityProps {
  /** The path of the page; `?range=` selects the other range. */
  path: string;
  endpointId: string;
  buckets: ActivityBucket[];
  range: Range;
}

/** The deliveries of a bucket in a state. */
const listOf = (
  { endpointId, range }: Pick<ActivityProps, 'endpointId' | 'range'>,
  { start }: ActivityBucket,
  state: 'delivered' | 'failed',
): string => {
  const end = new Date(start.getTime() + RANGES[range].bucketMs);
  const filter = { state, endpoint: endpointId, from: utcFieldValue(start), to: utcFieldValue(end) };
  return `/portal/deliveries?${new URLSearchParams(filter).toString()}`;
};

/** An endpoint's attempts over time: two charts, and the same data as a table. */
export function Activity({ path, endpointId, buckets, range }: ActivityProps): VNode {
  const of = { endpointId, range };
  const periods = periodsOf(buckets, range);
  const bars = (state: 'delivered' | 'failed') => ({
    tone: state === 'failed' ? ('bad' as const) : ('good' as const),
    name: state,
    values: buckets.map((bucket) => bucket[state]),
    hrefOf: (n: number) => listOf(of, buckets[n]!, state),
  });
  const delivered = sumOf(buckets.map((bucket) => bucket.delivered));
  const failed = sumOf(buckets.map((bucket) => bucket.failed));
  const slowest = Math.max(...buckets.map(({ slowestMs }) => slowestMs ?? 0));
  const labels = labelsOf(buckets, range);
  const count = (bucket: ActivityBucket, state: 'delivered' | 'failed') =>
    bucket[state] === 0 ? '0' : <a href={listOf(of, bucket, state)}>{bucket[state]}</a>;
  return (
    <OverTime
      id="activity"
      heading="Activity"
      path={path}
      hash="#activity"
      range={range}
      buckets={buckets}
      empty={
        delivered + failed === 0 && `Nothing was sent to this endpoint in the last ${RANGES[range].words}.`
      }
      table={{
        label: 'Activity as a table',
        columns: [
          ['Delivered', (bucket) => count(bucket, 'delivered')],
          ['Failed', (bucket) => count(bucket, 'failed')],
          ['Average', ({ averageMs }) => (averageMs === undefined ? '–' : formatMs(averageMs))],
          ['Slowest', ({ slowestMs }) => (slowestMs === undefined ? '–' : formatMs(slowestMs))],
        ],
      }}
    >
      <p>
        <strong>{successRate({ delivered, failed })}</strong> of {formatCount(delivered + failed)}{' '}
        {delivered + failed === 1 ? 'attempt' : 'attempts'} succeeded. The charts are in UTC.
      </p>
      <div class="charts">
        <figure>
          <figcaption>
            Attempts: <LegendEntry tone="good">delivered</LegendEntry>{' '}
            <LegendEntry tone="bad">failed</LegendEntry>
          </figcaption>
          <BarChart
            id="chart-deliveries"
            description={`Attempts of the last ${RANGES[range].words}, by the ${range === '24h' ? 'hour' : 'day'}: ${delivered} delivered, ${failed} failed.`}
            labels={labels}
            periods={periods}
            series={[bars('delivered'), bars('failed')]}
          />
        </figure>
        <figure>
          <figcaption>
            Response time: <LegendEntry tone="line">average</LegendEntry>{' '}
            <LegendEntry tone="slow" isDashed>
              slowest
            </LegendEntry>
          </figcaption>
          <LineChart
            id="chart-response-times"
            description={`Response times: the slowest attempt took ${formatMs(slowest)}.`}
            labels={labels}
            periods={periods}
            series={[
              {
                tone: 'slow',
                isDashed: true,
                name: 'slowest',
                values: buckets.map((each) => each.slowestMs),
              },
              { tone: 'line', name: 'average', values: buckets.map((each) => each.averageMs) },
            ]}
          />
        </figure>
      </div>
    </OverTime>
  );
}
