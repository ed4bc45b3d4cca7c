import { scaleLinear } from 'd3-scale';
import { area, curveStepAfter } from 'd3-shape';
import type { VNode } from 'preact';
import { formatCount, sumOf } from './numbers.js';

const WIDTH = 320;
const HEIGHT = 72;
const TOP = 4;

export interface TrendChartProps {
  /** What is counted, and over which period. */
  label: string;
  tone: 'good' | 'bad';
  /** A count for each hour, up to now. */
  counts: number[];
  /** The label at the left end. */
  from: string;
}

/** A small chart of counts by the hour, without axes. Its accessible name summarizes it, and the page's table has the numbers. */
export function TrendChart({ label, tone, counts, from }: TrendChartProps): VNode {
  const highest = Math.max(...counts);
  const x = scaleLinear([0, counts.length], [0, WIDTH]);
  const y = scaleLinear([0, Math.max(1, highest)], [HEIGHT, TOP]);
  // Each hour is a step as wide as an hour, so the last one needs an end.
  const steps = [...counts, counts.at(-1) ?? 0];
  const fill = area<number>((_count, n) => x(n), HEIGHT, y).curve(curveStepAfter);
  const summary = `${label}: ${formatCount(sumOf(counts))} in total, at most ${formatCount(highest)} in an hour`;
  return (
    <figure class={`chart chart-${tone}`}>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={summary}>
        <line class="chart-base" x1="0" x2={WIDTH} y1={HEIGHT} y2={HEIGHT} />
        <path class="chart-area" d={fill(steps) ?? ''} />
        <path class="chart-line" d={fill.lineY1()(steps) ?? ''} fill="none" />
      </svg>
      <figcaption aria-hidden="true">
        <span>{from}</span>
        <span>{highest > 0 && `up to ${formatCount(highest)} per hour`}</span>
        <span>now</span>
      </figcaption>
    </figure>
  );
}
