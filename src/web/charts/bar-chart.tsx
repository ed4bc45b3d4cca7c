import { stack } from 'd3-shape';
import type { VNode } from 'preact';
import { Plot, type ChartProps, type ChartSeries } from './plot.js';

/** Bars of counts, with the later series stacked on the earlier ones. */
export function BarChart({ series, ...chart }: ChartProps): VNode {
  const stacked = stack<void, number, ChartSeries>()
    .keys(series)
    .value((n, { values }) => values[n] ?? 0)(chart.labels.keys());
  // Only whole numbers on the axis: there are no half counts.
  const highest = Math.max(4, ...stacked.flat().map(([, to]) => to));
  return (
    <Plot {...chart} highest={highest}>
      {(x, y) =>
        stacked.map((bars) =>
          bars.map(
            ([from, to], n) =>
              to > from && (
                <rect
                  class={bars.key.class}
                  x={x(n)}
                  width={x.bandwidth()}
                  y={y(to)}
                  height={Math.max(1, y(from) - y(to))}
                />
              ),
          ),
        )
      }
    </Plot>
  );
}
