import { scaleBand, scaleLinear, type ScaleBand, type ScaleLinear } from 'd3-scale';
import type { ComponentChildren, VNode } from 'preact';
import { useText } from '../layout/say.js';
import type { Tone } from './legend-entry.js';

const WIDTH = 520;
/** Above the plot is room for the value that is pointed at. A small one has no words but those. */
const SIZES = {
  large: { height: 222, top: 34, right: 26, bottom: 28, left: 78 },
  small: { height: 84, top: 26, right: 0, bottom: 4, left: 0 },
};
const HEIGHT_OF_VALUE = 18;

/** Values over time, one for each label; undefined where it is missing. */
export interface ChartSeries {
  tone: Tone;
  /** A line that is told from another one without colours. */
  isDashed?: boolean;
  /** What its values are, after the number. */
  name: string;
  values: (number | undefined)[];
  /** Where a value leads to. */
  hrefOf?: (n: number) => string;
}

export interface ChartProps {
  id: string;
  /** The text alternative of the chart, in a sentence; the table is next to it. */
  description: string;
  /** The label under each value; may be empty. */
  labels: string[];
  /** What each value is about in words: its hour or day. */
  periods: string[];
  series: ChartSeries[];
  /** Small ones stand below a number that says what they show. */
  size?: keyof typeof SIZES;
  formatTick?: (value: number) => string;
}

interface PlotProps extends ChartProps {
  highest: number;
  /** The words for a value. */
  formatValue: (value: number) => string;
  /** Further values that are said of each period. */
  said?: readonly { name: string; values: (number | undefined)[] }[];
  /** Drawn behind the values. */
  below?: (x: ScaleBand<number>, y: ScaleLinear<number, number>) => ComponentChildren;
  /** What is drawn for the nth value, which is under the pointer or has the focus together with its words. */
  children: (n: number, x: ScaleBand<number>, y: ScaleLinear<number, number>) => ComponentChildren;
}

/** The values of a period in words. */
export const wordsFor = (
  period: string,
  series: readonly { name: string; value: number | undefined }[],
  formatValue: (value: number) => string,
  nothing: string,
): string => {
  const known = series.filter(({ value }) => value !== undefined);
  const words = known.map(({ name, value }) => `${formatValue(value!)} ${name}`.trim());
  return `${period}: ${words.join(', ') || nothing}`;
};

/**
 * A chart's axes from zero to the highest value, rendered on the server; colours are variables of the style sheet. Every period is a
 * band as high as the plot: the style sheet shows its values while it is pointed at or has the focus. Bands without links can be
 * focused themselves.
 */
export function Plot({
  id,
  description,
  labels,
  periods,
  series,
  highest,
  size = 'large',
  ...props
}: PlotProps): VNode {
  const t = useText();
  const { height, ...margin } = SIZES[size];
  const { formatValue, said = [], below, children } = props;
  const x = scaleBand(labels.keys(), [margin.left, WIDTH - margin.right]).paddingInner(0.25);
  const y = scaleLinear([0, highest], [height - margin.bottom, margin.top]).nice(4);
  const { formatTick = y.tickFormat(4, '~s') } = props;
  const isLinked = series.some(({ hrefOf }) => hrefOf);
  return (
    <svg
      class="plot"
      viewBox={`0 0 ${WIDTH} ${height}`}
      role="group"
      aria-labelledby={id}
      fill="var(--pico-muted-color)"
      font-size="17"
    >
      <title id={id}>{description}</title>
      {(size === 'large' ? y.ticks(4) : [0]).map((tick) => (
        <g aria-hidden="true">
          <line
            stroke="var(--pico-muted-border-color)"
            x1={margin.left}
            x2={WIDTH - margin.right}
            y1={y(tick)}
            y2={y(tick)}
          />
          {size === 'large' && (
            <text x={margin.left - 8} y={y(tick)} dy="0.32em" text-anchor="end">
              {formatTick(tick)}
            </text>
          )}
        </g>
      ))}
      {labels.map(
        (label, n) =>
          label &&
          size === 'large' && (
            <text x={x(n)! + x.bandwidth() / 2} y={height - 8} text-anchor="middle" aria-hidden="true">
              {label}
            </text>
          ),
      )}
      {below?.(x, y)}
      {periods.map((period, n) => {
        const values = [...series, ...said].map((each) => ({ name: each.name, value: each.values[n] }));
        const words = wordsFor(period, values, formatValue, t('nothing'));
        const focus =
          isLinked || values.every(({ value }) => value === undefined)
            ? {}
            : ({ tabIndex: 0, role: 'img', 'aria-label': words } as const);
        return (
          <g class="band" {...focus}>
            <rect
              class="band-area"
              fill="transparent"
              x={x(n)! - (x.step() - x.bandwidth()) / 2}
              width={x.step()}
              y={margin.top}
              height={height - margin.bottom - margin.top}
            />
            {children(n, x, y)}
            <text
              class="band-words"
              fill="var(--pico-h1-color)"
              x={WIDTH - margin.right}
              y={HEIGHT_OF_VALUE}
              text-anchor="end"
              aria-hidden="true"
            >
              {words}
            </text>
          </g>
        );
      })}
    </svg>
  );
}
