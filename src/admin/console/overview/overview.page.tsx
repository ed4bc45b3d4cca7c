import type { VNode } from 'preact';
import { HOUR_MS } from '../../../config/durations.js';
import type { Counted } from '../../../activity/activity.js';
import type { ClientNearLimit } from '../../../activity/client-near-limit.js';
import { formatCount, sumOf } from '../../../web/charts/numbers.js';
import { periodsOf } from '../../../web/charts/periods.js';
import { TrendChart, type TrendBand } from '../../../web/charts/trend-chart.js';
import { ExactMoment } from '../../../web/tables/moment.js';
import { State } from '../../../web/tables/state.js';
import { Table } from '../../../web/tables/table.js';
import type { Page } from '../../../database/queries/read-page.js';
import type { EndpointInList } from '../../../webhooks/endpoints/endpoint-in-list.js';
import { clientPath } from '../clients/client-layout.js';
import { Refusals } from '../clients/refusals.page.js';
import type { ConsolePage } from '../pages/console-layout.js';
import { NameLink } from '../pages/lists.js';
import { DELIVERIES_PATH, ENDPOINTS_PATH, endpointPath } from '../webhooks/endpoint-paths.js';
import { EndpointState } from '../webhooks/endpoints.page.js';
import { alertsOf, type Alert } from './alerts.js';
import type { Series } from './series.js';

/** Counting stops here. */
const COUNTED_TO = 10_000;

export interface OverviewPageProps {
  series: Series[];
  waiting: Waiting;
  disabled: Page<EndpointInList>;
  nearLimit: ClientNearLimit[];
  /** How many wait for a second admin. */
  approvals: number;
  /** How many redirect URIs partners ask for. */
  redirectUris: number;
  /** Why logins were refused within the last seven days. */
  refusedLogins: Counted[];
}

/** The pending deliveries: their number, counted up to 10,000, and how many seconds the oldest due one has waited. */
interface Waiting {
  pending: number;
  oldestSeconds: number;
}

/** Shows whether everything is fine, and the activity of the last day and week. */
export function overviewPage(props: OverviewPageProps): ConsolePage {
  const { series, waiting, disabled, nearLimit, refusedLogins } = props;
  return {
    part: 'overview',
    title: 'Overview',
    children: (
      <>
        <Verdict alerts={alertsOf(props)} />
        <p class="muted">Clients of sandboxes are not counted here, except for pending deliveries.</p>
        <div class="tiles">
          {series.map((each) => (
            <Tile series={each} />
          ))}
          <WaitingTile waiting={waiting} />
        </div>
        <HourTable series={series} />
        <h2>Clients near their limit</h2>
        <NearLimit clients={nearLimit} />
        <h2>Refused logins in the last seven days</h2>
        {refusedLogins.length === 0 ? (
          <p class="empty">No logins were refused.</p>
        ) : (
          <Refusals caption="Refused logins" refusals={refusedLogins} />
        )}
        <h2>Disabled endpoints</h2>
        <DisabledEndpoints page={disabled} />
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

function Tile({ series }: { series: Series }): VNode {
  const { label, tone } = series;
  const week = series.hours.map(({ count }) => count);
  const day = week.slice(-24);
  return (
    <section class="tile-card" aria-label={label}>
      <h2>{label}</h2>
      <p class="figures">
        <strong>{formatCount(day.at(-1) ?? 0)}</strong> this hour
        <span class="muted"> · {formatCount(sumOf(day))} in 24 hours</span>
        <span class="muted"> · {formatCount(sumOf(week))} in 7 days</span>
      </p>
      <TrendChart
        label={`${label} over the last day`}
        tone={tone}
        counts={day}
        from="24 hours ago"
        bands={bandsOf(series, 24, 1)}
      />
      <TrendChart
        label={`${label} over the last week`}
        tone={tone}
        counts={week}
        from="7 days ago"
        bands={bandsOf(series, week.length, 24)}
      />
    </section>
  );
}

/** The last hours of a series in parts of so many. The table below has the numbers of single hours. */
function bandsOf({ label, hours, listOf }: Series, last: number, size: number): TrendBand[] {
  const shown = hours.slice(-last);
  return Array.from({ length: shown.length / size }, (_part, n) => {
    const part = shown.slice(n * size, (n + 1) * size);
    const count = sumOf(part.map((hour) => hour.count));
    const [first, end] = [part[0]!.hour, new Date(part.at(-1)!.hour.getTime() + HOUR_MS)];
    const [begun] = periodsOf([{ start: first }], '24h');
    const words = `${size === 1 ? '' : `${size} hours from `}${begun}: ${formatCount(count)}`;
    const link = listOf &&
      count > 0 && { href: listOf(first, end), label: `${label}, ${words}. Show these deliveries` };
    return { words, ...(link ? { link } : {}), isFocusable: size > 1 };
  });
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
      <ul class="plain">
        <li>
          <a href={`${DELIVERIES_PATH}?state=pending`}>View pending deliveries</a>
        </li>
        <li>
          <a href={`${DELIVERIES_PATH}?state=failed`}>View failed deliveries</a>
        </li>
      </ul>
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

/** The numbers behind the charts: the last day hour by hour. */
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
            cell: ({ hour, counts }: (typeof rows)[number]) => {
              const count = counts[n] ?? 0;
              if (!listOf || count === 0) return formatCount(count);
              return <a href={listOf(hour, new Date(hour.getTime() + HOUR_MS))}>{formatCount(count)}</a>;
            },
          })),
        ]}
      />
    </details>
  );
}

function NearLimit({ clients }: { clients: ClientNearLimit[] }): VNode {
  if (clients.length === 0) return <p class="empty">No clients are near their limit.</p>;
  return (
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
        },
        {
          head: 'Refused in the last two hours',
          isNumber: true,
          cell: ({ refused }) => formatCount(refused),
        },
        { head: 'Last', cell: ({ lastAt }) => <ExactMoment at={lastAt} /> },
      ]}
    />
  );
}

function DisabledEndpoints({ page }: { page: Page<EndpointInList> }): VNode {
  if (page.items.length === 0) return <p class="empty">No endpoints are disabled.</p>;
  return (
    <>
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
          { head: 'State', cell: (endpoint) => <EndpointState endpoint={endpoint} /> },
          { head: 'Since', cell: ({ disabledAt }) => (disabledAt ? <ExactMoment at={disabledAt} /> : '') },
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
