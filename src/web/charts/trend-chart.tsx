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
  /** Equal parts of the time, from left to right. */
  bands: TrendBand[];
}

/** A part of the time, whose words are shown while it is pointed at or has the focus. */
export interface TrendBand {
  words: string;
  /** Where it leads to, and what that is called. */
  link?: { href: string; label: string };
  /** Whether it can have the focus without a link: if no table has its number. */
  isFocusable?: boolean;
}

/** A small chart of counts by the hour, without axes. Its accessible name summarizes it, and the page's table has the numbers. */
export function TrendChart({ label, tone, counts, from, bands }: TrendChartProps): VNode {
  const highest = Math.max(...counts);
  const x = scaleLinear([0, counts.length], [0, WIDTH]);
  const y = scaleLinear([0, Math.max(1, highest)], [HEIGHT, TOP]);
  // Each hour is a step as wide as an hour, so the last one needs an end.
  const steps = [...counts, counts.at(-1) ?? 0];
  const fill = area<number>((_count, n) => x(n), HEIGHT, y).curve(curveStepAfter);
  const summary = `${label}: ${formatCount(sumOf(counts))} in total, at most ${formatCount(highest)} in an hour`;
  return (
    <figure class={`chart chart-${tone}`}>
      {/* The drawing is stretched, and the words above it are not. */}
      <svg class="trend">
        {bands.map((band, n) => (
          <Band band={band} from={n / bands.length} width={1 / bands.length} />
        ))}
        <svg
          y="1.25rem"
          height="4rem"
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={summary}
        >
          <line class="chart-base" x1="0" x2={WIDTH} y1={HEIGHT} y2={HEIGHT} />
          <path class="chart-area" d={fill(steps) ?? ''} />
          <path class="chart-line" d={fill.lineY1()(steps) ?? ''} fill="none" />
        </svg>
      </svg>
      <figcaption aria-hidden="true">
        <span>{from}</span>
        <span>{highest > 0 && `up to ${formatCount(highest)} per hour`}</span>
        <span>now</span>
      </figcaption>
    </figure>
  );
}

function Band({ band, from, width }: { band: TrendBand; from: number; width: number }): VNode {
  const { words, link, isFocusable } = band;
  const focus = isFocusable && !link ? ({ tabIndex: 0, role: 'img', 'aria-label': words } as const) : {};
  const part = (share: number) => `${(100 * share).toFixed(3)}%`;
  const place = <rect class="band-area" x={part(from)} width={part(width)} y="1.25rem" height="4rem" />;
  return (
    <g class="band" {...focus}>
      {link ? (
        <a class="bar" href={link.href} aria-label={link.label}>
          {place}
        </a>
      ) : (
        place
      )}
      <text class="band-words" x="100%" y="0.875rem" text-anchor="end" aria-hidden="true">
        {words}
      </text>
    </g>
  );
}
