import type { VNode } from 'preact';
import { BarChart } from '../../web/charts/bar-chart.js';
import { formatCount, sumOf } from '../../web/charts/numbers.js';
import { Moment } from '../../web/tables/moment.js';
import { MONTHS_KEPT } from '../../disclosures/disclosure.js';
import type { DisclosedKind, DisclosureHistory } from '../../disclosures/disclosure-history.js';
import type { AccountPage } from './account-layout.js';

const part = (options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC' });
const MONTH = part({ month: 'long', year: 'numeric' });
const DAY = part({ weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
const SHORT_DAY = part({ weekday: 'short', day: 'numeric', month: 'short' });

const monthOf = (day: string): string => day.slice(0, 7);

/**
 * What an application read, by day, the newest first. A month at a time: that of `chosen` if something was read in it, otherwise the last
 * in which something was.
 */
export function historyPage({ client, endedAt, kinds }: DisclosureHistory, chosen: unknown): AccountPage {
  const months = [...new Set(kinds.map(({ day }) => monthOf(day)))];
  const month = months.find((each) => each === chosen) ?? months[0];
  return {
    title: 'What it read',
    part: 'applications',
    children: (
      <>
        <p class="lead">
          Here you see on which days <bdi class="name">{client.name}</bdi> read your data.
        </p>
        {endedAt && (
          <p class="notice">
            It was disconnected on <Moment at={endedAt} />. It can no longer read your data.
          </p>
        )}
        {month === undefined ? (
          <p class="empty">It has read none of your data in the last {MONTHS_KEPT} months.</p>
        ) : (
          <Month
            path={`/account/applications/${client.id}/history`}
            month={month}
            months={months}
            kinds={kinds.filter(({ day }) => monthOf(day) === month)}
          />
        )}
        <p class="muted">
          “Asked” means that the application asked for this data and got it. “Sent” means that we told the
          application about something new. Days begin at midnight UTC. We keep these numbers for {MONTHS_KEPT}{' '}
          months.
        </p>
        <p>
          <a href="/account">Back to your applications</a>
        </p>
      </>
    ),
  };
}

interface MonthProps {
  path: string;
  /** As `YYYY-MM`. */
  month: string;
  /** Those in which something was read, newest first. */
  months: string[];
  kinds: DisclosedKind[];
}

function Month({ path, month, months, kinds }: MonthProps): VNode {
  const place = months.indexOf(month);
  const [later, earlier] = [months[place - 1], months[place + 1]];
  const name = MONTH.format(new Date(month));
  return (
    <section>
      <div class="section-head">
        <h2>{name}</h2>
        <p>{timesOf(kinds)}</p>
      </div>
      <DaysChart name={name} month={month} kinds={kinds} />
      <ol class="entries" role="list">
        {[...new Set(kinds.map(({ day }) => day))].map((day) => (
          <li>
            <h3>
              <time dateTime={day}>{DAY.format(new Date(day))}</time>
            </h3>
            <ul>
              {kinds
                .filter((each) => each.day === day)
                .map((kind) => (
                  <li>
                    {nameOf(kind)}: {timesOf([kind])}
                  </li>
                ))}
            </ul>
          </li>
        ))}
      </ol>
      {(later ?? earlier) && (
        <nav class="pager" aria-label="Other months">
          {later && (
            <a href={later === months[0] ? path : `${path}?month=${later}`} rel="prev">
              ← {MONTH.format(new Date(later))}
            </a>
          )}
          {earlier && (
            <a class="pager-next" href={`${path}?month=${earlier}`} rel="next">
              {MONTH.format(new Date(earlier))} →
            </a>
          )}
        </nav>
      )}
    </section>
  );
}

/** All days of the month; its numbers are in the list below. */
function DaysChart({ name, month, kinds }: Pick<MonthProps, 'month' | 'kinds'> & { name: string }): VNode {
  const [year, number] = month.split('-').map(Number) as [number, number];
  const count = new Date(Date.UTC(year, number, 0)).getUTCDate();
  const days = Array.from({ length: count }, (_, n) => new Date(Date.UTC(year, number - 1, n + 1)));
  // Nothing at all is said of the other days.
  const sums = (what: 'requests' | 'deliveries') =>
    days.map((day) => {
      const ofDay = kinds.filter((kind) => kind.day === day.toISOString().slice(0, 10));
      return ofDay.length > 0 ? sumOf(ofDay.map((kind) => kind[what])) : undefined;
    });
  return (
    <div class="charts">
      <figure>
        <figcaption>
          <span class="key key-asked">asked</span> <span class="key key-sent">sent</span>
        </figcaption>
        <BarChart
          id="chart-days"
          description={`${name} by the day: ${timesOf(kinds)}. The list has the numbers.`}
          labels={days.map((_, n) => ((n + 1) % 5 === 0 ? String(n + 1) : ''))}
          periods={days.map((day) => SHORT_DAY.format(day))}
          series={[
            { class: 'chart-asked', name: 'asked', values: sums('requests') },
            { class: 'chart-sent', name: 'sent', values: sums('deliveries') },
          ]}
        />
      </figure>
    </div>
  );
}

/** What kind of data it is, in a few words: the beginning of what the catalogue says that the scope allows. */
function nameOf({ description }: DisclosedKind): string {
  if (description === null) return 'Your name and email address';
  const [beginning] = description.split(':') as [string];
  const noun = beginning.replace(/^(see|read) your /i, '');
  return noun.charAt(0).toUpperCase() + noun.slice(1);
}

function timesOf(kinds: DisclosedKind[]): string {
  const [asked, sent] = [
    sumOf(kinds.map(({ requests }) => requests)),
    sumOf(kinds.map(({ deliveries }) => deliveries)),
  ];
  return [asked > 0 && `asked ${times(asked)}`, sent > 0 && `sent ${times(sent)}`]
    .filter((words) => words !== false)
    .join(', ');
}

const times = (count: number): string =>
  count === 1 ? 'once' : count === 2 ? 'twice' : `${formatCount(count)} times`;
