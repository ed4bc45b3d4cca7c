import { scaleLinear, scaleUtc } from 'd3-scale';
import { area, curveStepAfter } from 'd3-shape';
import type { VNode } from 'preact';

const WIDTH = 520;
const HEIGHT = 190;
const MARGIN = { top: 24, right: 14, bottom: 30, left: 58 };
const CLOCK = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium', timeZone: 'UTC' });

interface PowerChartProps {
  power: readonly { at: Date; kw: number }[];
  from: Date;
  /** The right end of the axis: the end of the session, known or expected. */
  to: Date;
}

/** The power of a session over time. The page's time line has the same as text. */
export function PowerChart({ power, from, to }: PowerChartProps): VNode {
  const now = power.at(-1);
  const x = scaleUtc([from, to], [MARGIN.left, WIDTH - MARGIN.right]).clamp(true);
  const y = scaleLinear(
    [0, Math.max(4, ...power.map(({ kw }) => kw))],
    [HEIGHT - MARGIN.bottom, MARGIN.top],
  ).nice(3);
  const shape = area<PowerChartProps['power'][number]>(
    ({ at }) => x(at),
    HEIGHT - MARGIN.bottom,
    ({ kw }) => y(kw),
  ).curve(curveStepAfter);
  return (
    <svg
      class="plot"
      fill="var(--pico-muted-color)"
      font-size="17"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={`Power over time, now ${now?.kw ?? 0} kW`}
    >
      {y.ticks(3).map((tick) => (
        <>
          <line
            stroke="var(--pico-muted-border-color)"
            x1={MARGIN.left}
            x2={WIDTH - MARGIN.right}
            y1={y(tick)}
            y2={y(tick)}
          />
          <text x={MARGIN.left - 8} y={y(tick)} dy="0.32em" text-anchor="end">
            {tick}
          </text>
        </>
      ))}
      <text x={MARGIN.left - 8} y="14" text-anchor="end">
        kW
      </text>
      <text x={MARGIN.left} y={HEIGHT - 8}>
        {CLOCK.format(from)}
      </text>
      <text x={WIDTH - MARGIN.right} y={HEIGHT - 8} text-anchor="end">
        {CLOCK.format(to)} UTC
      </text>
      <path fill="var(--accent-soft)" d={shape(power) ?? ''} />
      <path stroke="var(--pico-primary)" stroke-width="2" d={shape.lineY1()(power) ?? ''} fill="none" />
      {now && <circle class="power-now" fill="var(--pico-primary)" cx={x(now.at)} cy={y(now.kw)} r="6" />}
    </svg>
  );
}
