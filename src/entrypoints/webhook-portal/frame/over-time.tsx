import type { ComponentChildren, VNode } from 'preact';
import { type Range, periodsOf } from '#platform/web/charts/ranges.js';
import { RangeSwitch } from '#platform/web/charts/range-switch.js';

export interface OverTimeProps<B> {
  id: string;
  heading: string;
  /** The path of the page; `?range=` selects the other range. */
  path: string;
  /** The fragment that the links of the ranges lead to. */
  hash?: string;
  range: Range;
  buckets: B[];
  /** Shown instead if there is no data. */
  empty: string | false;
  /** The charts. */
  children: ComponentChildren;
  /** The same as a table: its name and columns after the first. */
  table: { label: string; columns: [head: string, cell: (bucket: B) => ComponentChildren][] };
}

/** Charts of the last hours or days, with links to the other range, and the same data as a table. */
export function OverTime<B extends { start: Date }>(props: OverTimeProps<B>): VNode {
  const { id, heading, path, hash, range, buckets, empty, children, table } = props;
  return (
    <section>
      <div class="section-head">
        <h2 id={id}>{heading}</h2>
        <RangeSwitch path={path} hash={hash} range={range} />
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
                    <th scope="col">{range === '24h' ? 'Hour' : 'Day (UTC)'}</th>
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
