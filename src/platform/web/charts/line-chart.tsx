import { line } from 'd3-shape';
import type { VNode } from 'preact';
import { formatMs } from './numbers.js';
import { Plot, type ChartProps } from './plot.js';
import { colourOf } from './legend-entry.js';

/** Lines of durations with a dot for each value, interrupted where a value is missing. */
export function LineChart(chart: ChartProps): VNode {
  const { series } = chart;
  const highest = Math.max(10, ...series.flatMap(({ values }) => values.map((value) => value ?? 0)));
  return (
    <Plot
      {...chart}
      highest={highest}
      formatTick={formatMs}
      formatValue={formatMs}
      below={(x, y) => {
        const path = line<number | undefined>(
          (_value, n) => x(n)! + x.bandwidth() / 2,
          (value) => y(value!),
        ).defined((value) => value !== undefined);
        return series.map(({ tone, isDashed, values }) => (
          <path
            d={path(values) ?? ''}
            fill="none"
            stroke={colourOf(tone)}
            stroke-width="2"
            stroke-linejoin="round"
            stroke-dasharray={isDashed ? '5 4' : undefined}
            aria-hidden="true"
          />
        ));
      }}
    >
      {(n, x, y) =>
        series.map(({ tone, values }) => {
          const value = values[n];
          if (value === undefined) return null;
          return <circle fill={colourOf(tone)} cx={x(n)! + x.bandwidth() / 2} cy={y(value)} r="3" />;
        })
      }
    </Plot>
  );
}
