import { scaleBand, scaleLinear } from 'd3-scale';
import { line } from 'd3-shape';
import type { VNode } from 'preact';
import { ChartFrame, PLOT_X, PLOT_Y } from './chart-frame.js';
import type { Bucket, ChartRange } from './time-buckets.js';

type Measured = Required<Bucket>;

/** Lines of the average and longest durations, interrupted where there were no attempts. */
export function ResponseTimesChart({ buckets, range }: { buckets: Bucket[]; range: ChartRange }): VNode {
  const x = scaleBand()
    .domain(buckets.map(({ start }) => start.toISOString()))
    .range(PLOT_X)
    .paddingInner(0.25);
  const slowest = Math.max(10, ...buckets.map(({ slowestMs }) => slowestMs ?? 0));
  const y = scaleLinear().domain([0, slowest]).nice(4).range(PLOT_Y);
  const middle = ({ start }: Bucket): number => x(start.toISOString())! + x.bandwidth() / 2;
  const path = (of: 'averageMs' | 'slowestMs') =>
    line<Bucket>(middle, (bucket) => y(bucket[of]!)).defined((bucket) => bucket[of] !== undefined)(buckets);
  const measured = buckets.filter((bucket): bucket is Measured => bucket.averageMs !== undefined);
  const description =
    measured.length === 0
      ? 'Response times: nothing was sent.'
      : `Response times: the slowest attempt took ${formatMs(Math.max(...measured.map((each) => each.slowestMs)))}.`;
  return (
    <ChartFrame
      id="chart-response-times"
      description={description}
      buckets={buckets}
      range={range}
      x={x}
      y={y}
      formatTick={formatMs}
    >
      {(['slowestMs', 'averageMs'] as const).map((of) => (
        <g class={of === 'slowestMs' ? 'chart-slowest' : 'chart-average'}>
          <path d={path(of) ?? ''} fill="none" stroke-width="2" stroke-linejoin="round" />
          {measured.map((bucket) => (
            <circle cx={middle(bucket)} cy={y(bucket[of])} r="3" />
          ))}
        </g>
      ))}
    </ChartFrame>
  );
}

/** A duration in readable form. */
export const formatMs = (ms: number): string =>
  ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0).replace(/\.0$/, '')} s`;
