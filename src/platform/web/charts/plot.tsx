import { scaleBand, scaleLinear, type ScaleBand, type ScaleLinear } from 'd3-scale';
import type { ComponentChildren, VNode } from 'preact';
import { useText } from '../layout/say.js';
import type { Tone } from './legend-entry.js';

const WIDTH = 520;
const HEIGHT = 222;
/** Above the plot is room for the value that is pointed at. */
const MARGIN = { top: 34, right: 26, bottom: 28, left: 78 };
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
export function Plot({ id, description, labels, periods, series, highest, ...props }: PlotProps): VNode {
  const t = useText();
  const { formatValue, said = [], below, children } = props;
  const x = scaleBand(labels.keys(), [MARGIN.left, WIDTH - MARGIN.right]).paddingInner(0.25);
  const y = scaleLinear([0, highest], [HEIGHT - MARGIN.bottom, MARGIN.top]).nice(4);
  const { formatTick = y.tickFormat(4, '~s') } = props;
  const isLinked = series.some(({ hrefOf }) => hrefOf);
  return (
    <svg
      class="plot"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="group"
      aria-labelledby={id}
      fill="var(--pico-muted-color)"
      font-size="17"
    >
      <title id={id}>{description}</title>
      {y.ticks(4).map((tick) => (
        <g aria-hidden="true">
          <line
            stroke="var(--pico-muted-border-color)"
            x1={MARGIN.left}
            x2={WIDTH - MARGIN.right}
            y1={y(tick)}
            y2={y(tick)}
          />
          <text x={MARGIN.left - 8} y={y(tick)} dy="0.32em" text-anchor="end">
            {formatTick(tick)}
          </text>
        </g>
      ))}
      {labels.map(
        (label, n) =>
          label && (
            <text x={x(n)! + x.bandwidth() / 2} y={HEIGHT - 8} text-anchor="middle" aria-hidden="true">
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
              y={MARGIN.top}
              height={HEIGHT - MARGIN.bottom - MARGIN.top}
            />
            {children(n, x, y)}
            <text
              class="band-words"
              fill="var(--pico-h1-color)"
              x={WIDTH - MARGIN.right}
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
