import type { VNode } from 'preact';
import type { Counted } from '#records/activity/activity.js';
import type { ClientEntity } from '#access/clients/client.entity.js';
import { RecentMoment } from '#platform/web/tables/moment.js';
import { State } from '#platform/web/tables/state.js';
import { Table } from '#platform/web/tables/table.js';
import type { ConsolePage } from '../pages/console-layout.js';
import { clientPath, aboutClient } from './client-layout.js';
import { refusalMessage } from './operator-refusal-messages.js';

export interface RefusalsPageProps {
  client: ClientEntity;
  refusals: Counted[];
  issued: Counted[];
}

/** The requests refused to a client within a week, with reasons and fixes; and the tokens issued to it. */
export function refusalsPage({ client, refusals, issued }: RefusalsPageProps): ConsolePage {
  return aboutClient(client, {
    current: 'refusals',
    children: (
      <>
        {!client.enabled && (
          <p class="notice notice-error">
            This client is disabled, so all its requests are refused.{' '}
            <a href={clientPath(client.id)}>Enable it</a>
          </p>
        )}
        {client.environment === 'sandbox' && (
          <p class="notice">
            This client is in a sandbox, where partners try what can go wrong. Its refusals raise no alarm,
            and are not part of the overview.
          </p>
        )}
        <h2>Refused in the last seven days</h2>
        {refusals.length === 0 ? (
          <p class="empty">No requests of this client were refused.</p>
        ) : (
          <Refusals refusals={refusals} />
        )}
        <p class="muted">
          A request with an unknown client ID or an unknown token cannot be attributed to a client, so it is
          not listed here.
        </p>
        <h2>Tokens issued in the last seven days</h2>
        {issued.length === 0 ? (
          <p class="empty">No tokens were issued.</p>
        ) : (
          <Table
            caption="Tokens issued"
            rows={issued}
            columns={[
              { head: 'Grant type', cell: ({ detail }) => detail },
              { head: 'Last', cell: ({ lastAt }) => <RecentMoment at={lastAt} /> },
              { head: 'From', cell: ({ lastAddress }) => <bdi>{lastAddress ?? 'unknown'}</bdi> },
              { head: 'Count', isNumber: true, cell: ({ count }) => count.toLocaleString('en-GB') },
            ]}
            unfolds
          />
        )}
      </>
    ),
  });
}

/** Refusals with their reasons and fixes. */
export function Refusals({
  refusals,
  caption = 'Refusals',
}: {
  refusals: Counted[];
  caption?: string;
}): VNode {
  return (
    <Table
      caption={caption}
      rows={refusals}
      columns={[
        {
          head: 'Reason and fix',
          cell: ({ kind, detail }) => <strong>{refusalMessage(kind, detail).what}</strong>,
          under: ({ kind, detail }) => refusalMessage(kind, detail).help,
        },
        {
          head: 'Response',
          cell: ({ kind, detail }) => <State tone="bad">{refusalMessage(kind, detail).status}</State>,
          onPhone: 'unfolded',
        },
        { head: 'Last', cell: ({ lastAt }) => <RecentMoment at={lastAt} /> },
        {
          head: 'From',
          cell: ({ lastAddress }) => <bdi>{lastAddress ?? 'unknown'}</bdi>,
          onPhone: 'unfolded',
        },
        { head: 'Count', isNumber: true, cell: ({ count }) => count.toLocaleString('en-GB') },
      ]}
      unfolds
    />
  );
}
