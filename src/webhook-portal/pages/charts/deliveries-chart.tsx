import { scaleBand, scaleLinear } from 'd3-scale';
import type { VNode } from 'preact';
import { ChartFrame, PLOT_X, PLOT_Y } from './chart-frame.js';
import type { Bucket, ChartRange } from './time-buckets.js';

/** Bars with the number of successful attempts, and failed ones stacked on top. */
export function DeliveriesChart({ buckets, range }: { buckets: Bucket[]; range: ChartRange }): VNode {
  const x = scaleBand()
    .domain(buckets.map(({ start }) => start.toISOString()))
    .range(PLOT_X)
    .paddingInner(0.25);
  // Only whole numbers on the axis: there are no half attempts.
  const most = Math.max(4, ...buckets.map(({ delivered, failed }) => delivered + failed));
  const y = scaleLinear().domain([0, most]).nice(4).range(PLOT_Y);
  const bar = (bucket: Bucket, from: number, to: number, kind: 'delivered' | 'failed') =>
    to > from && (
      <rect
        class={`chart-${kind}`}
        x={x(bucket.start.toISOString())}
        width={x.bandwidth()}
        y={y(to)}
        height={Math.max(1, y(from) - y(to))}
      />
    );
  const sum = (of: (bucket: Bucket) => number) => buckets.reduce((total, bucket) => total + of(bucket), 0);
  const description =
    `Attempts of the last ${range === '24h' ? '24 hours, by the hour' : '7 days, by the day'}: ` +
    `${sum(({ delivered }) => delivered)} delivered, ${sum(({ failed }) => failed)} failed.`;
  return (
    <ChartFrame
      id="chart-deliveries"
      description={description}
      buckets={buckets}
      range={range}
      x={x}
      y={y}
      formatTick={y.tickFormat(4, '~s')}
    >
      {buckets.map((bucket) => (
        <>
          {bar(bucket, 0, bucket.delivered, 'delivered')}
          {bar(bucket, bucket.delivered, bucket.delivered + bucket.failed, 'failed')}
        </>
      ))}
    </ChartFrame>
  );
}
