import { scaleLinear } from 'd3-scale';
import { area, curveStepAfter, line } from 'd3-shape';
import type { VNode } from 'preact';
import { sumOf, type Series } from './series.js';

const WIDTH = 320;
const HEIGHT = 72;
const TOP = 4;

export interface ChartProps {
  series: Series;
  /** The number of hours to show, up to now. */
  hours: number;
  /** The name of the period, as in "over the last day". */
  over: string;
  /** The label at the left end. */
  from: string;
}

/** A chart of counts by the hour. Its accessible name summarizes it, and the page's table has the numbers. */
export function Chart({ series: { label, tone, hours: all }, hours, over, from }: ChartProps): VNode {
  const shown = all.slice(-hours);
  const highest = Math.max(...shown.map(({ count }) => count));
  const x = scaleLinear([0, shown.length], [0, WIDTH]);
  const y = scaleLinear([0, Math.max(1, highest)], [HEIGHT, TOP]);
  // Each hour is a step as wide as an hour, so the last one needs an end.
  const steps = [...shown.map(({ count }) => count), shown.at(-1)?.count ?? 0];
  const fill = area<number>()
    .x((_count, n) => x(n))
    .y0(HEIGHT)
    .y1((count) => y(count))
    .curve(curveStepAfter);
  const edge = line<number>()
    .x((_count, n) => x(n))
    .y((count) => y(count))
    .curve(curveStepAfter);
  const words = `${label} over ${over}: ${number(sumOf(shown))} in total, at most ${number(highest)} in an hour`;
  return (
    <figure class={`chart chart-${tone}`}>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={words}>
        <line class="chart-base" x1="0" x2={WIDTH} y1={HEIGHT} y2={HEIGHT} />
        <path class="chart-area" d={fill(steps) ?? ''} />
        <path class="chart-line" d={edge(steps) ?? ''} fill="none" />
      </svg>
      <figcaption aria-hidden="true">
        <span>{from}</span>
        <span>{highest > 0 && `up to ${number(highest)} per hour`}</span>
        <span>now</span>
      </figcaption>
    </figure>
  );
}

export const number = (count: number): string => count.toLocaleString('en-GB');
