import { scaleBand, scaleLinear, type ScaleBand, type ScaleLinear } from 'd3-scale';
import type { ComponentChildren, VNode } from 'preact';

const WIDTH = 520;
const HEIGHT = 200;
const MARGIN = { top: 12, right: 26, bottom: 28, left: 78 };

/** Values over time, one for each label; undefined where there is none. */
export interface ChartSeries {
  class: string;
  values: (number | undefined)[];
}

export interface ChartProps {
  id: string;
  /** The text alternative of the chart, in a sentence; the table is next to it. */
  description: string;
  /** The label under each value; may be empty. */
  labels: string[];
  series: ChartSeries[];
  formatTick?: (value: number) => string;
}

interface PlotProps extends Omit<ChartProps, 'series'> {
  highest: number;
  children: (x: ScaleBand<number>, y: ScaleLinear<number, number>) => ComponentChildren;
}

/** A chart's axes from zero to the highest value, rendered on the server; colours are classes of the style sheet. */
export function Plot({ id, description, labels, highest, children, ...props }: PlotProps): VNode {
  const x = scaleBand(labels.keys(), [MARGIN.left, WIDTH - MARGIN.right]).paddingInner(0.25);
  const y = scaleLinear([0, highest], [HEIGHT - MARGIN.bottom, MARGIN.top]).nice(4);
  const { formatTick = y.tickFormat(4, '~s') } = props;
  return (
    <svg class="plot" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-labelledby={id}>
      <title id={id}>{description}</title>
      {y.ticks(4).map((tick) => (
        <g>
          <line class="plot-line" x1={MARGIN.left} x2={WIDTH - MARGIN.right} y1={y(tick)} y2={y(tick)} />
          <text class="plot-text" x={MARGIN.left - 8} y={y(tick)} dy="0.32em" text-anchor="end">
            {formatTick(tick)}
          </text>
        </g>
      ))}
      {labels.map(
        (label, n) =>
          label && (
            <text class="plot-text" x={x(n)! + x.bandwidth() / 2} y={HEIGHT - 8} text-anchor="middle">
              {label}
            </text>
          ),
      )}
      {children(x, y)}
    </svg>
  );
}
