import type { CountedSince } from '../../activity/activity.js';
import { refusalMessageForPartner } from '../../partners/refusals/refusal-messages.js';
import { formatCount } from '../../web/charts/numbers.js';
import { ExactMoment, Moment } from '../../web/tables/moment.js';
import { State } from '../../web/tables/state.js';
import { Table } from '../../web/tables/table.js';
import type { PortalPage } from './portal-layout.js';

/** Why requests of the client were refused in the last seven days, and what to do. */
export const refusalsPage = (refusals: CountedSince[]): PortalPage => ({
  title: 'Refusals',
  part: 'refusals',
  children: (
    <>
      <p>Why requests of this application were refused in the last seven days.</p>
      {refusals.length === 0 ? (
        <p class="empty">No requests of this application were refused.</p>
      ) : (
        <Table
          caption="Refusals"
          rows={refusals}
          columns={[
            {
              head: 'Reason and what to do',
              cell: ({ kind, detail }) => {
                const { what, help } = refusalMessageForPartner(kind, detail);
                return (
                  <>
                    <strong>{what}</strong>
                    <span class="under muted">{help}</span>
                  </>
                );
              },
            },
            {
              head: 'Response',
              cell: ({ kind, detail }) => (
                <State tone="bad">{refusalMessageForPartner(kind, detail).status}</State>
              ),
            },
            { head: 'First, in the hour of', cell: ({ firstHour }) => <Moment at={firstHour} /> },
            { head: 'Last', cell: ({ lastAt }) => <ExactMoment at={lastAt} /> },
            { head: 'Count', isNumber: true, cell: ({ count }) => formatCount(count) },
          ]}
        />
      )}
      <p class="muted">
        A request with an unknown client ID or an unknown token cannot be attributed to an application, so it
        is not listed here.
      </p>
    </>
  ),
});
