import type { CountedSince } from '#records/activity/activity.js';
import type { RefusalMessage } from '#events/partners/refusals/refusal-message.js';
import { refusalMessageForPartner } from '#events/partners/refusals/refusal-messages.js';
import { formatCount } from '#platform/web/charts/numbers.js';
import { Hour, RecentMoment } from '#platform/web/tables/moment.js';
import { State } from '#platform/web/tables/state.js';
import { Table } from '#platform/web/tables/table.js';
import type { PortalPage } from '../frame/portal-layout.js';

type Reason = RefusalMessage & Pick<CountedSince, 'count' | 'firstHour' | 'lastAt'>;

/** What the partner is told, latest first; refusals with the same text are merged. */
function reasonsOf(refusals: CountedSince[]): Reason[] {
  const found = new Map<string, Reason>();
  for (const { kind, detail, count, firstHour, lastAt } of refusals) {
    const message = refusalMessageForPartner(kind, detail);
    const key = `${message.status} ${message.what}`;
    const known = found.get(key);
    if (!known) found.set(key, { ...message, count, firstHour, lastAt });
    else {
      known.count += count;
      if (firstHour < known.firstHour) known.firstHour = firstHour;
    }
  }
  return [...found.values()];
}

/** Why requests of the client were refused in the last seven days, and what to do. */
export const refusalsPage = (refusals: CountedSince[]): PortalPage => ({
  title: 'Refusals',
  part: 'refusals',
  children: (
    <>
      <p>Why requests of this client were refused in the last seven days.</p>
      {refusals.length === 0 ? (
        <p class="empty">No requests of this client were refused.</p>
      ) : (
        <Table
          caption="Refusals"
          rows={reasonsOf(refusals)}
          columns={[
            {
              head: 'Reason and what to do',
              cell: ({ what }) => <strong>{what}</strong>,
              under: ({ help }) => help,
            },
            {
              head: 'Response',
              cell: ({ status }) => <State tone="bad">{status}</State>,
              onPhone: 'unfolded',
            },
            {
              head: 'First',
              cell: ({ firstHour }) => <Hour at={firstHour} />,
              onPhone: 'unfolded',
            },
            { head: 'Last', cell: ({ lastAt }) => <RecentMoment at={lastAt} /> },
            { head: 'Count', isNumber: true, cell: ({ count }) => formatCount(count) },
          ]}
          unfolds
        />
      )}
      <p class="muted">
        A request with an unknown client ID or an unknown token cannot be attributed to a client, so it is not
        listed here.
      </p>
    </>
  ),
});
