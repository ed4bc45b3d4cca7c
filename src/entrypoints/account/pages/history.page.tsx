import type { VNode } from 'preact';
import { useContext } from 'preact/hooks';
import { datesBy } from '#platform/language/formats.js';
import { say } from '#platform/language/text.js';
import { BarChart } from '#platform/web/charts/bar-chart.js';
import { LegendEntry } from '#platform/web/charts/legend-entry.js';
import { sumOf } from '#platform/web/charts/numbers.js';
import { LanguageContext, Say, useText } from '#platform/web/layout/say.js';
import { Moment } from '#platform/web/tables/moment.js';
import {
  MONTHS_KEPT,
  beginningOf,
  type DisclosedKind,
  type DisclosureHistory,
} from '#events/disclosures/disclosure.js';
import type { AccountPage } from './account-layout.js';

const monthIn = datesBy({ month: 'long', year: 'numeric' });
const dayIn = datesBy({ weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
const shortDayIn = datesBy({ weekday: 'short', day: 'numeric', month: 'short' });

const monthOf = (day: string): string => day.slice(0, 7);

/**
 * What an application read, by day, the newest first. One month at a time: `chosen` if something was read in it, otherwise the
 * last month with reads.
 */
export const historyPage = (history: DisclosureHistory, chosen: unknown): AccountPage => ({
  title: say('What it read'),
  part: 'sharing',
  children: <History {...history} chosen={chosen} />,
});

function History({ client, endedAt, kinds, chosen }: DisclosureHistory & { chosen: unknown }): VNode {
  const t = useText();
  const months = [...new Set(kinds.map(({ day }) => monthOf(day)))];
  const month = months.find((each) => each === chosen) ?? months[0];
  return (
    <>
      <p class="lead">
        <Say
          it="Here you see on which days {application} read your data."
          with={{ application: <bdi class="name">{client.name}</bdi> }}
        />
      </p>
      {endedAt && (
        <p class="notice">
          <Say
            it="It was disconnected on {moment}. It can no longer read your data."
            with={{ moment: <Moment at={endedAt} /> }}
          />
        </p>
      )}
      {month === undefined ? (
        <p class="empty">
          {t('It has read none of your data in the last {months} months.', { months: MONTHS_KEPT })}
        </p>
      ) : (
        <Month
          path={`/account/applications/${client.id}/history`}
          month={month}
          months={months}
          kinds={kinds.filter(({ day }) => monthOf(day) === month)}
        />
      )}
      <p class="muted">
        {t(
          '“Asked” means that the application asked for this data and got it. “Sent” means that we told the application about something new. Days begin at midnight UTC. We keep these numbers for {months} months.',
          { months: MONTHS_KEPT },
        )}
      </p>
      <p>
        <a href="/account">{t('Back to your applications')}</a>
      </p>
    </>
  );
}

interface MonthProps {
  path: string;
  /** As `YYYY-MM`. */
  month: string;
  /** The months in which something was read, newest first. */
  months: string[];
  kinds: DisclosedKind[];
}

function Month({ path, month, months, kinds }: MonthProps): VNode {
  const t = useText();
  const timesOf = useTimes();
  const language = useContext(LanguageContext);
  const place = months.indexOf(month);
  const [later, earlier] = [months[place - 1], months[place + 1]];
  const name = monthIn(language, new Date(month));
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
              <time dateTime={day}>{dayIn(language, new Date(day))}</time>
            </h3>
            <ul>
              {kinds
                .filter((each) => each.day === day)
                .map((kind) => {
                  const times = timesOf([kind]);
                  return (
                    <li>
                      {kind.description === null
                        ? t('Your name and email address: {times}', { times })
                        : t('“{words}”: {times}', { words: beginningOf(kind.description), times })}
                    </li>
                  );
                })}
            </ul>
          </li>
        ))}
      </ol>
      {(later ?? earlier) && (
        <nav class="pager" aria-label={t('Other months')}>
          {later && (
            <a href={later === months[0] ? path : `${path}?month=${later}`} rel="prev">
              <span class="arrow">←</span> {monthIn(language, new Date(later))}
            </a>
          )}
          {earlier && (
            <a href={`${path}?month=${earlier}`} rel="next">
              {monthIn(language, new Date(earlier))} <span class="arrow">→</span>
            </a>
          )}
        </nav>
      )}
    </section>
  );
}

/** All days of the month; its numbers are in the list below. */
function DaysChart({ name, month, kinds }: Pick<MonthProps, 'month' | 'kinds'> & { name: string }): VNode {
  const t = useText();
  const timesOf = useTimes();
  const language = useContext(LanguageContext);
  const [year, number] = month.split('-').map(Number) as [number, number];
  const count = new Date(Date.UTC(year, number, 0)).getUTCDate();
  const days = Array.from({ length: count }, (_, n) => new Date(Date.UTC(year, number - 1, n + 1)));
  // The other days are not mentioned.
  const sums = (what: 'requests' | 'deliveries') =>
    days.map((day) => {
      const ofDay = kinds.filter((kind) => kind.day === day.toISOString().slice(0, 10));
      return ofDay.length > 0 ? sumOf(ofDay.map((kind) => kind[what])) : undefined;
    });
  return (
    <div class="charts">
      <figure>
        <figcaption>
          <LegendEntry tone="good">{t('asked')}</LegendEntry>{' '}
          <LegendEntry tone="slow">{t('sent')}</LegendEntry>
        </figcaption>
        <BarChart
          id="chart-days"
          description={t('{month} by the day: {times}. The list has the numbers.', {
            month: name,
            times: timesOf(kinds),
          })}
          labels={days.map((_, n) => ((n + 1) % 5 === 0 ? String(n + 1) : ''))}
          periods={days.map((day) => shortDayIn(language, day))}
          series={[
            { tone: 'good', name: t('asked'), values: sums('requests') },
            { tone: 'slow', name: t('sent'), values: sums('deliveries') },
          ]}
        />
      </figure>
    </div>
  );
}

/** How often it was requested and sent, in words. */
function useTimes(): (kinds: DisclosedKind[]) => string {
  const t = useText();
  return (kinds) => {
    const [asked, sent] = [
      sumOf(kinds.map(({ requests }) => requests)),
      sumOf(kinds.map(({ deliveries }) => deliveries)),
    ];
    return [
      asked > 0 &&
        t('{count, plural, =1 {asked once} =2 {asked twice} other {asked # times}}', { count: asked }),
      sent > 0 && t('{count, plural, =1 {sent once} =2 {sent twice} other {sent # times}}', { count: sent }),
    ]
      .filter((words) => words !== false)
      .join(', ');
  };
}
