import type { ComponentChildren, VNode } from 'preact';
import { periodsOf } from '../../web/charts/periods.js';
import type { ActivityRange } from '../deliveries/activity-buckets.js';

/** The ranges that a visitor can choose, in words. */
export const RANGES = { '24h': '24 hours', '7d': '7 days' };

const TIME_OF_DAY = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'UTC' });
const WEEKDAY = new Intl.DateTimeFormat('en-GB', { weekday: 'short', timeZone: 'UTC' });

/** What stands under the values of a chart: every day, or every fourth hour. */
export const labelsOf = (buckets: readonly { start: Date }[], range: ActivityRange): string[] =>
  buckets.map(({ start }, n) => {
    if (range === '7d') return WEEKDAY.format(start);
    return (buckets.length - 1 - n) % 4 === 0 ? TIME_OF_DAY.format(start) : '';
  });

export interface OverTimeProps<B> {
  id: string;
  heading: string;
  /** Path of the page, which shows the other range with `?range=`. */
  path: string;
  /** Where on the page the links of the ranges lead. */
  hash?: string;
  range: ActivityRange;
  buckets: B[];
  /** Said in place of everything if there is nothing. */
  empty: string | false;
  /** The charts. */
  children: ComponentChildren;
  /** The same as a table: its name and columns after the first. */
  table: { label: string; columns: [head: string, cell: (bucket: B) => ComponentChildren][] };
}

/** Charts of the last hours or days, with links to the other range, and the same data as a table. */
export function OverTime<B extends { start: Date }>(props: OverTimeProps<B>): VNode {
  const { id, heading, path, hash = '', range, buckets, empty, children, table } = props;
  return (
    <section>
      <div class="section-head">
        <h2 id={id}>{heading}</h2>
        <p class="switch">
          {Object.entries(RANGES).map(([each, label]) => (
            <a
              href={`${path}${each === '24h' ? '' : `?range=${each}`}${hash}`}
              {...(each === range ? { 'aria-current': 'true' as const } : {})}
            >
              {label}
            </a>
          ))}
        </p>
      </div>
      {empty ? (
        <p class="empty">{empty}</p>
      ) : (
        <>
          {children}
          <details>
            <summary>View as table</summary>
            <div class="scrolling" role="region" aria-label={table.label} tabIndex={0}>
              <table>
                <thead>
                  <tr>
                    <th scope="col">{range === '24h' ? 'Hour (UTC)' : 'Day (UTC)'}</th>
                    {table.columns.map(([head]) => (
                      <th scope="col">{head}</th>
                    ))}
                  </tr>
                </thead>
                <tbody>
                  {buckets.map((bucket) => (
                    <tr>
                      <th scope="row">{periodsOf([bucket], range)}</th>
                      {table.columns.map(([, cell]) => (
                        <td>{cell(bucket)}</td>
                      ))}
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          </details>
        </>
      )}
    </section>
  );
}
