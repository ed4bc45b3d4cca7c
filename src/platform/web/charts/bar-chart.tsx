import { stack } from 'd3-shape';
import type { VNode } from 'preact';
import { useContext } from 'preact/hooks';
import { numberIn } from '#platform/language/formats.js';
import { LanguageContext, useText } from '../layout/say.js';
import { Plot, wordsFor, type ChartProps, type ChartSeries } from './plot.js';
import { colourOf } from './legend-entry.js';

export interface BarChartProps extends ChartProps {
  /** The counts of the time before, shown as a mark on each bar and said with it. */
  before?: { name: string; values: number[] };
}

/** Bars of counts, with the later series stacked on the earlier ones. A bar leads to what it counts. */
export function BarChart({ before, ...chart }: BarChartProps): VNode {
  const { series, labels, periods } = chart;
  const t = useText();
  const language = useContext(LanguageContext);
  const formatValue = (count: number): string => numberIn(language, count);
  const stacked = stack<void, number, ChartSeries>()
    .keys(series)
    .value((n, { values }) => values[n] ?? 0)(labels.keys());
  // Only whole numbers on the axis: there are no half counts.
  const highest = Math.max(4, ...stacked.flat().map(([, to]) => to), ...(before?.values ?? []));
  return (
    <Plot {...chart} highest={highest} formatValue={formatValue} said={before ? [before] : []}>
      {(n, x, y) => [
        ...stacked.map((bars) => {
          const [from, to] = bars[n]!;
          const { tone, name, hrefOf } = bars.key;
          if (to <= from) return null;
          const bar = (
            <rect
              fill={colourOf(tone)}
              x={x(n)}
              width={x.bandwidth()}
              y={y(to)}
              height={Math.max(1, y(from) - y(to))}
            />
          );
          if (!hrefOf) return bar;
          const words = wordsFor(periods[n]!, [{ name, value: to - from }], formatValue, t('nothing'));
          return (
            <a class="bar" href={hrefOf(n)} aria-label={`${words}. Show these deliveries`}>
              {bar}
            </a>
          );
        }),
        before && (
          <line
            stroke="var(--pico-color)"
            stroke-width="2"
            x1={x(n)}
            x2={x(n)! + x.bandwidth()}
            y1={y(before.values[n]!)}
            y2={y(before.values[n]!)}
          />
        ),
      ]}
    </Plot>
  );
}
