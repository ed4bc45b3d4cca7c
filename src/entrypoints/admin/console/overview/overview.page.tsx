import type { VNode } from 'preact';
import { HOUR_MS } from '#platform/config/durations.js';
import type { Counted, RefusedClient } from '#records/activity/activity.js';
import { BarChart } from '#platform/web/charts/bar-chart.js';
import { formatCount, sumOf } from '#platform/web/charts/numbers.js';
import { labelsOf, RANGES, type Range, periodsOf } from '#platform/web/charts/ranges.js';
import type { ChartProps } from '#platform/web/charts/plot.js';
import { RangeSwitch } from '#platform/web/charts/range-switch.js';
import { ExactMoment, RecentMoment } from '#platform/web/tables/moment.js';
import { State } from '#platform/web/tables/state.js';
import { Table } from '#platform/web/tables/table.js';
import type { Page } from '#platform/database/queries/read-page.js';
import type { EndpointInList } from '#events/webhooks/endpoints/endpoint-health.js';
import { clientPath } from '../clients/client-layout.js';
import { Refusals } from '../clients/refusals.page.js';
import type { ConsolePage } from '../pages/console-layout.js';
import { NameLink } from '../pages/lists.js';
import { DELIVERIES_PATH, ENDPOINTS_PATH, endpointPath } from '../pages/resource-link.js';
import { EndpointState } from '../webhooks/endpoints.page.js';
import { alertsOf, type Alert } from './alerts.js';
import type { Series } from './series.js';

/** The limit of counts. */
const COUNTED_TO = 10_000;

export interface OverviewPageProps {
  range: Range;
  series: Series[];
  waiting: Waiting;
  disabled: Page<EndpointInList>;
  disabledByService: Page<EndpointInList>;
  nearLimit: RefusedClient[];
  /** The clients with the most refusals in the last 24 hours. */
  refused: RefusedClient[];
  /** Those of features. */
  moreAlerts: Alert[];
  /** Why logins were refused within the last seven days. */
  refusedLogins: Counted[];
}

/** The pending deliveries: their number, counted up to 10,000, and how many seconds the oldest due one has waited. */
interface Waiting {
  pending: number;
  oldestSeconds: number;
}

/** Shows whether everything is fine, and the activity of the last day or week compared with the one before. */
export function overviewPage(props: OverviewPageProps): ConsolePage {
  const { range, series, waiting, disabled, nearLimit, refused, moreAlerts, refusedLogins } = props;
  return {
    part: 'overview',
    title: 'Overview',
    children: (
      <>
        <Verdict alerts={[...alertsOf(props), ...moreAlerts]} />
        <div class="section-head">
          <p class="muted">
            <svg viewBox="0 0 14 8" width="14" height="8" aria-hidden="true">
              <path d="M0 4h14" stroke="currentcolor" stroke-width="2" />
            </svg>{' '}
            {BEFORE[range]}. Clients of sandboxes are not counted, except for pending deliveries.
          </p>
          <RangeSwitch path="/admin/console" range={range} />
        </div>
        <div class="tiles">
          {series.filter(isLarge).map((each) => (
            <Tile series={each} range={range} />
          ))}
          {series
            .filter((each) => !isLarge(each))
            .map((each) => (
              <Tile series={each} range={range} size="small" />
            ))}
          <WaitingTile waiting={waiting} />
        </div>
        <HourTable series={series} />
        <div id="refused-clients">{refused.length > 0 && <RefusedClients clients={refused} />}</div>
        {nearLimit.length > 0 && <NearLimit clients={nearLimit} />}
        <div id="refused-logins">
          {refusedLogins.length > 0 && (
            <>
              <h2>Refused logins in the last seven days</h2>
              <Refusals caption="Refused logins" refusals={refusedLogins} />
            </>
          )}
        </div>
        {disabled.items.length > 0 && <DisabledEndpoints page={disabled} />}
        <NothingElse {...props} />
      </>
    ),
  };
}

function Verdict({ alerts }: { alerts: Alert[] }): VNode {
  if (alerts.length === 0) {
    return (
      <p class="verdict">
        <State tone="good">OK</State> Nothing needs attention.
      </p>
    );
  }
  return (
    <div class="verdict verdict-bad">
      <p>
        <State tone="bad">Needs attention</State>
      </p>
      <ul>
        {alerts.map(({ text, href, link }) => (
          <li>
            {text} <a href={href}>{link}</a>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** What goes well has a large chart; what goes wrong is a number with a small one. */
const isLarge = ({ tone }: Series): boolean => tone === 'good';

const BEFORE: Record<Range, string> = { '24h': 'the day before', '7d': 'the week before' };

function Tile({ series, range, size }: { series: Series; range: Range; size?: ChartProps['size'] }): VNode {
  const { label, tone, hours, listOf, more } = series;
  const { count, words } = RANGES[range];
  const hoursEach = range === '24h' ? 1 : 24;
  const [before, now] = [
    partsOf(hours.slice(-2 * count * hoursEach, -count * hoursEach), hoursEach),
    partsOf(hours.slice(-count * hoursEach), hoursEach),
  ];
  const [total, totalBefore] = [
    sumOf(now.map((part) => part.count)),
    sumOf(before.map((part) => part.count)),
  ];
  const all = listOf ? listOf(now[0]!.start, now.at(-1)!.end) : more;
  return (
    <section class="tile-card" aria-label={label}>
      <h2>{all ? <a href={all}>{label}</a> : label}</h2>
      <p class="figures">
        <strong>{formatCount(total)}</strong> in {words}
        <span class="muted"> · {comparedWith(total, totalBefore, words)}</span>
        {isLarge(series) && <span class="muted"> · {formatCount(hours.at(-1)?.count ?? 0)} this hour</span>}
      </p>
      <BarChart
        id={`chart-${label.toLowerCase().replaceAll(' ', '-')}`}
        size={size}
        description={`${label} in the last ${words}: ${formatCount(total)}; in the ${words} before: ${formatCount(totalBefore)}.`}
        labels={labelsOf(now, range)}
        periods={periodsOf(now, '24h').map((start) => (hoursEach === 1 ? start : `24 hours from ${start}`))}
        series={[
          {
            tone,
            name: '',
            values: now.map((part) => part.count),
            ...(listOf ? { hrefOf: (n: number) => listOf(now[n]!.start, now[n]!.end) } : {}),
          },
        ]}
        before={{
          name: BEFORE[range],
          values: before.map((part) => part.count),
        }}
      />
    </section>
  );
}

/** The hours in groups of this size. */
function partsOf(hours: Series['hours'], size: number): { start: Date; end: Date; count: number }[] {
  return Array.from({ length: hours.length / size }, (_part, n) => {
    const part = hours.slice(n * size, (n + 1) * size);
    return {
      start: part[0]!.hour,
      end: new Date(part.at(-1)!.hour.getTime() + HOUR_MS),
      count: sumOf(part.map(({ count }) => count)),
    };
  });
}

/** Compares a number with that of the previous period, in words. */
function comparedWith(now: number, before: number, words: string): string {
  if (before === 0) return now === 0 ? `none in the ${words} before either` : `none in the ${words} before`;
  if (now > 5 * before)
    return `${formatCount(Math.round(now / before))} times as many as in the ${words} before`;
  const percent = Math.round((100 * (now - before)) / before);
  if (percent === 0) return `as many as in the ${words} before`;
  const share = `${formatCount(Math.abs(percent))} %`;
  return `${share} ${percent > 0 ? 'more' : 'fewer'} than in the ${words} before`;
}

function WaitingTile({ waiting: { pending, oldestSeconds } }: { waiting: Waiting }): VNode {
  return (
    <section class="tile-card" aria-label="Pending deliveries">
      <h2>Pending deliveries</h2>
      <p class="figures">
        <strong>{pending >= COUNTED_TO ? `${formatCount(COUNTED_TO)} or more` : formatCount(pending)}</strong>{' '}
        now, including retries
      </p>
      {oldestSeconds >= 1 ? (
        <p>
          The oldest overdue delivery has waited for <strong>{durationText(oldestSeconds)}</strong>.
        </p>
      ) : (
        <p class="muted">Nothing is overdue.</p>
      )}
      <p>
        <a href={`${DELIVERIES_PATH}?state=pending`}>View pending deliveries</a>
        {' · '}
        <a href={`${DELIVERIES_PATH}?state=failed`}>View failed deliveries</a>
      </p>
    </section>
  );
}

function durationText(seconds: number): string {
  const [count, unit] =
    seconds < 120
      ? [Math.round(seconds), 'second']
      : seconds < 7200
        ? [Math.floor(seconds / 60), 'minute']
        : seconds < 172_800
          ? [Math.floor(seconds / 3600), 'hour']
          : [Math.floor(seconds / 86_400), 'day'];
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

/** The numbers in the charts: the last day, hour by hour. */
function HourTable({ series }: { series: Series[] }): VNode {
  const rows = (series[0]?.hours ?? [])
    .map(({ hour }, n) => ({ hour, counts: series.map(({ hours }) => hours[n]?.count ?? 0) }))
    .slice(-24)
    .reverse();
  return (
    <details class="numbers">
      <summary>Last 24 hours in numbers</summary>
      <Table
        caption="Last 24 hours by the hour"
        rows={rows}
        columns={[
          { head: 'Hour beginning', cell: ({ hour }) => <ExactMoment at={hour} /> },
          ...series.map(({ label, listOf }, n) => ({
            head: label,
            isNumber: true,
            onPhone: n === 0 ? ('named' as const) : ('unfolded' as const),
            cell: ({ hour, counts }: (typeof rows)[number]) => {
              const count = counts[n] ?? 0;
              if (!listOf || count === 0) return formatCount(count);
              return <a href={listOf(hour, new Date(hour.getTime() + HOUR_MS))}>{formatCount(count)}</a>;
            },
          })),
        ]}
        unfolds
      />
    </details>
  );
}

/** What there is none of, in one line. */
function NothingElse({ refused, nearLimit, refusedLogins, disabled }: OverviewPageProps): VNode | null {
  const nothing = [
    refused.length === 0 && 'No requests of a known client were refused.',
    nearLimit.length === 0 && 'No clients are near their limit.',
    refusedLogins.length === 0 && 'No logins were refused.',
    disabled.items.length === 0 && 'No endpoints are disabled.',
  ].filter(Boolean);
  return nothing.length === 0 ? null : <p class="muted">{nothing.join(' ')}</p>;
}

const RefusedClients = ({ clients }: { clients: RefusedClient[] }): VNode => (
  <>
    <h2>Clients with most refusals in 24 hours</h2>
    <Table
      caption="Clients with most refusals"
      rows={clients}
      columns={[
        {
          head: 'Client',
          cell: ({ id, name }) => <NameLink href={clientPath(id, 'refusals')} name={name} />,
        },
        { head: 'Refused', isNumber: true, cell: ({ refused }) => formatCount(refused) },
        { head: 'Last', cell: ({ lastAt }) => <RecentMoment at={lastAt} /> },
      ]}
    />
  </>
);

const NearLimit = ({ clients }: { clients: RefusedClient[] }): VNode => (
  <>
    <h2>Clients near their limit</h2>
    <Table
      caption="Clients near their limit"
      rows={clients}
      columns={[
        {
          head: 'Client',
          cell: ({ id, name }) => <NameLink href={clientPath(id, 'refusals')} name={name} />,
        },
        {
          head: 'State',
          cell: ({ refused }) =>
            refused > 0 ? <State tone="bad">Rate limited</State> : <State tone="warn">Over 80 %</State>,
          onPhone: 'beside',
        },
        {
          head: 'Refused in the last two hours',
          isNumber: true,
          cell: ({ refused }) => formatCount(refused),
        },
        { head: 'Last', cell: ({ lastAt }) => <RecentMoment at={lastAt} /> },
      ]}
    />
  </>
);

function DisabledEndpoints({ page }: { page: Page<EndpointInList> }): VNode {
  return (
    <>
      <h2>Disabled endpoints</h2>
      <Table
        caption="Disabled endpoints"
        rows={page.items}
        columns={[
          { head: 'Endpoint', cell: ({ id, url }) => <a href={endpointPath(id)}>{url}</a> },
          {
            head: 'Client',
            cell: ({ clientId, clientName, environment }) => (
              <NameLink href={clientPath(clientId)} name={clientName} environment={environment} />
            ),
          },
          { head: 'State', cell: (endpoint) => <EndpointState endpoint={endpoint} />, onPhone: 'beside' },
          { head: 'Since', cell: ({ disabledAt }) => (disabledAt ? <RecentMoment at={disabledAt} /> : '') },
        ]}
      />
      {page.hasNext && (
        <p>
          <a href={`${ENDPOINTS_PATH}?state=disabled`}>View all disabled endpoints</a>
        </p>
      )}
    </>
  );
}
