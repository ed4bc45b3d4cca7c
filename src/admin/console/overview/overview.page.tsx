import type { VNode } from 'preact';
import type { ClientNearLimit } from '../../../activity/activity.repository.js';
import { ExactMoment } from '../../../http/pages/moment.js';
import type { Page } from '../../../http/paging.js';
import type { EndpointInList } from '../../../webhooks/endpoints/endpoints.repository.js';
import { clientPath } from '../clients/client-frame.js';
import { renderConsolePage, type ConsoleFrame } from '../pages/console-layout.js';
import { State, Table } from '../pages/lists.js';
import { DELIVERIES_PATH, ENDPOINTS_PATH, endpointPath } from '../webhooks/endpoint-paths.js';
import { EndpointState } from '../webhooks/endpoints.page.js';
import { Chart, number } from './chart.js';
import { concernsOf, type Concern } from './concerns.js';
import { sumOf, type Series } from './series.js';

/** The service counts no further. */
const COUNTED_TO = 10_000;

export interface OverviewPageProps {
  frame: ConsoleFrame;
  series: Series[];
  waiting: Waiting;
  disabled: Page<EndpointInList>;
  nearLimit: ClientNearLimit[];
}

/** What waits to be delivered: counted to 10,000, and for how many seconds the oldest that is due has waited. */
export interface Waiting {
  pending: number;
  oldestSeconds: number;
}

/** Says whether all is well, and shows what happened over the last day and week. */
export function overviewPage(props: OverviewPageProps): string {
  const { frame, series, waiting, disabled, nearLimit } = props;
  return renderConsolePage({
    frame,
    part: 'overview',
    title: 'Overview',
    children: (
      <>
        <Verdict concerns={concernsOf(props)} />
        <div class="tiles">
          {series.map((each) => (
            <Tile series={each} />
          ))}
          <WaitingTile waiting={waiting} />
        </div>
        <HourTable series={series} />
        <h2>Clients near their limit</h2>
        <NearLimit clients={nearLimit} />
        <h2>Disabled endpoints</h2>
        <DisabledEndpoints page={disabled} />
      </>
    ),
  });
}

function Verdict({ concerns }: { concerns: Concern[] }): VNode {
  if (concerns.length === 0) {
    return (
      <p class="verdict verdict-good">
        <State tone="good">All is well</State> Nothing needs a person's attention at the moment.
      </p>
    );
  }
  return (
    <div class="verdict verdict-bad">
      <p>
        <State tone="bad">Have a look</State>
      </p>
      <ul>
        {concerns.map(({ words, href, link }) => (
          <li>
            {words} <a href={href}>{link}</a>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Tile({ series }: { series: Series }): VNode {
  const day = series.hours.slice(-24);
  return (
    <section class="tile-card" aria-label={series.label}>
      <h2>{series.label}</h2>
      <p class="figures">
        <strong>{number(day.at(-1)?.count ?? 0)}</strong> this hour
        <span class="muted"> · {number(sumOf(day))} in a day</span>
        <span class="muted"> · {number(sumOf(series.hours))} in a week</span>
      </p>
      <Chart series={series} hours={24} over="the last day" from="24 hours ago" />
      <Chart series={series} hours={168} over="the last week" from="7 days ago" />
    </section>
  );
}

function WaitingTile({ waiting: { pending, oldestSeconds } }: { waiting: Waiting }): VNode {
  return (
    <section class="tile-card" aria-label="Deliveries waiting">
      <h2>Deliveries waiting</h2>
      <p class="figures">
        <strong>{pending >= COUNTED_TO ? `${number(COUNTED_TO)} or more` : number(pending)}</strong> now,
        those that wait for a retry too
      </p>
      {oldestSeconds >= 1 ? (
        <p>
          The oldest of those that are due has waited for <strong>{durationInWords(oldestSeconds)}</strong>.
        </p>
      ) : (
        <p class="muted">Nothing is overdue.</p>
      )}
      <ul class="plain">
        <li>
          <a href={`${DELIVERIES_PATH}?state=pending`}>See what waits</a>
        </li>
        <li>
          <a href={`${DELIVERIES_PATH}?state=failed`}>See what failed</a>
        </li>
      </ul>
    </section>
  );
}

function durationInWords(seconds: number): string {
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

/** What the pictures show, in numbers: the last day hour by hour. */
function HourTable({ series }: { series: Series[] }): VNode {
  const rows = (series[0]?.hours ?? [])
    .map(({ hour }, n) => ({ hour, counts: series.map(({ hours }) => hours[n]?.count ?? 0) }))
    .slice(-24)
    .reverse();
  return (
    <details class="numbers">
      <summary>The last day in numbers</summary>
      <Table
        caption="The last day by the hour"
        rows={rows}
        columns={[
          { head: 'Hour beginning', cell: ({ hour }) => <ExactMoment at={hour} /> },
          ...series.map(({ label }, n) => ({
            head: label,
            isNumber: true,
            cell: ({ counts }: (typeof rows)[number]) => number(counts[n] ?? 0),
          })),
        ]}
      />
    </details>
  );
}

function NearLimit({ clients }: { clients: ClientNearLimit[] }): VNode {
  if (clients.length === 0) return <p class="empty">No client is near its limit.</p>;
  return (
    <Table
      caption="Clients near their limit"
      rows={clients}
      columns={[
        {
          head: 'Client',
          cell: ({ id, name }) => (
            <a href={clientPath(id, 'refusals')}>
              <bdi>{name}</bdi>
            </a>
          ),
        },
        {
          head: 'State',
          cell: ({ refused }) =>
            refused > 0 ? <State tone="bad">Held back</State> : <State tone="warn">Over four fifths</State>,
        },
        { head: 'Refused in the last hours', isNumber: true, cell: ({ refused }) => number(refused) },
        { head: 'Last', cell: ({ lastAt }) => <ExactMoment at={lastAt} /> },
      ]}
    />
  );
}

function DisabledEndpoints({ page }: { page: Page<EndpointInList> }): VNode {
  if (page.items.length === 0) return <p class="empty">Every endpoint is enabled.</p>;
  return (
    <>
      <Table
        caption="Disabled endpoints"
        rows={page.items}
        columns={[
          { head: 'Endpoint', cell: ({ id, url }) => <a href={endpointPath(id)}>{url}</a> },
          {
            head: 'Client',
            cell: ({ clientId, clientName }) => (
              <a href={clientPath(clientId)}>
                <bdi>{clientName}</bdi>
              </a>
            ),
          },
          { head: 'State', cell: (endpoint) => <EndpointState endpoint={endpoint} /> },
          { head: 'Since', cell: ({ disabledAt }) => (disabledAt ? <ExactMoment at={disabledAt} /> : '') },
        ]}
      />
      {page.hasNext && (
        <p>
          <a href={`${ENDPOINTS_PATH}?state=disabled`}>See all disabled endpoints</a>
        </p>
      )}
    </>
  );
}
