import { line } from 'd3-shape';
import type { VNode } from 'preact';
import { Plot, type ChartProps } from './plot.js';

/** Lines with a dot for each value, interrupted where there is none. */
export function LineChart({ series, ...chart }: ChartProps): VNode {
  const highest = Math.max(10, ...series.flatMap(({ values }) => values.map((value) => value ?? 0)));
  return (
    <Plot {...chart} highest={highest}>
      {(x, y) => {
        const middle = (n: number): number => x(n)! + x.bandwidth() / 2;
        const path = line<number | undefined>(
          (_value, n) => middle(n),
          (value) => y(value!),
        ).defined((value) => value !== undefined);
        return series.map(({ class: className, values }) => (
          <g class={className}>
            <path d={path(values) ?? ''} fill="none" stroke-width="2" stroke-linejoin="round" />
            {values.map((value, n) => value !== undefined && <circle cx={middle(n)} cy={y(value)} r="3" />)}
          </g>
        ));
      }}
    </Plot>
  );
}
