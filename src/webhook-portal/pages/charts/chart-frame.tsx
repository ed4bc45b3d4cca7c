import type { ScaleBand, ScaleLinear } from 'd3-scale';
import type { ComponentChildren, VNode } from 'preact';
import type { Bucket, ChartRange } from './time-buckets.js';

const WIDTH = 520;
const HEIGHT = 200;
const MARGIN = { top: 12, right: 26, bottom: 28, left: 78 };
export const PLOT_X: [number, number] = [MARGIN.left, WIDTH - MARGIN.right];
export const PLOT_Y: [number, number] = [HEIGHT - MARGIN.bottom, MARGIN.top];

const TIME_OF_DAY = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'UTC' });
const WEEKDAY = new Intl.DateTimeFormat('en-GB', { weekday: 'short', timeZone: 'UTC' });

/** The label under a bar. */
const tickLabel = (start: Date, range: ChartRange): string =>
  (range === '24h' ? TIME_OF_DAY : WEEKDAY).format(start);

export interface ChartFrameProps {
  id: string;
  /** The text alternative of the chart, in a sentence; the table is next to it. */
  description: string;
  buckets: Bucket[];
  range: ChartRange;
  x: ScaleBand<string>;
  y: ScaleLinear<number, number>;
  formatTick: (value: number) => string;
  children: ComponentChildren;
}

/** The axes of a chart, rendered on the server; its colours are classes of the style sheet. */
export function ChartFrame(props: ChartFrameProps): VNode {
  const { id, description, buckets, range, x, y, formatTick, children } = props;
  const everyNth = range === '24h' ? 4 : 1;
  return (
    <svg class="plot" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-labelledby={id}>
      <title id={id}>{description}</title>
      {y.ticks(4).map((tick) => (
        <g>
          <line class="plot-line" x1={PLOT_X[0]} x2={PLOT_X[1]} y1={y(tick)} y2={y(tick)} />
          <text class="plot-text" x={PLOT_X[0] - 8} y={y(tick)} dy="0.32em" text-anchor="end">
            {formatTick(tick)}
          </text>
        </g>
      ))}
      {buckets.map(
        ({ start }, index) =>
          (buckets.length - 1 - index) % everyNth === 0 && (
            <text
              class="plot-text"
              x={x(start.toISOString())! + x.bandwidth() / 2}
              y={HEIGHT - 8}
              text-anchor="middle"
            >
              {tickLabel(start, range)}
            </text>
          ),
      )}
      {children}
    </svg>
  );
}
