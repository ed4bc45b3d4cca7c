import type { VNode } from 'preact';
import type { Counted } from '../../../activity/activity.js';
import type { ClientEntity } from '../../../clients/client.entity.js';
import { ExactMoment } from '../../../http/pages/moment.js';
import type { ConsoleFrame } from '../pages/console-layout.js';
import { State, Table } from '../pages/lists.js';
import { clientPath, renderClientPage } from './client-frame.js';
import { refusalWords } from './refusal-words.js';

export interface RefusalsPageProps {
  frame: ConsoleFrame;
  client: ClientEntity;
  refusals: Counted[];
  issued: Counted[];
}

/** What was refused to a client within a week, why, and what helps; and the tokens that it got. */
export function refusalsPage({ frame, client, refusals, issued }: RefusalsPageProps): string {
  return renderClientPage({
    frame,
    client,
    part: 'refusals',
    children: (
      <>
        {!client.enabled && (
          <p class="notice notice-error">
            This client is disabled, so everything is refused to it.{' '}
            <a href={clientPath(client.id)}>Enable it</a>
          </p>
        )}
        <h2>Refused within the last seven days</h2>
        {refusals.length === 0 ? (
          <p class="empty">Nothing was refused to this client.</p>
        ) : (
          <Refusals refusals={refusals} />
        )}
        <p class="muted">
          A request with an unknown client id or an unknown token names no client, so it is not listed here. A
          token is known for a day after its end.
        </p>
        <h2>Tokens issued within the last seven days</h2>
        {issued.length === 0 ? (
          <p class="empty">It got no token.</p>
        ) : (
          <Table
            caption="Tokens issued"
            rows={issued}
            columns={[
              { head: 'How', cell: ({ detail }) => detail },
              { head: 'Last', cell: ({ lastAt }) => <ExactMoment at={lastAt} /> },
              { head: 'From', cell: ({ lastAddress }) => <bdi>{lastAddress ?? 'unknown'}</bdi> },
              { head: 'How often', isNumber: true, cell: ({ count }) => count.toLocaleString('en-GB') },
            ]}
          />
        )}
      </>
    ),
  });
}

function Refusals({ refusals }: { refusals: Counted[] }): VNode {
  return (
    <Table
      caption="Refusals"
      rows={refusals}
      columns={[
        {
          head: 'Why, and what helps',
          cell: ({ kind, detail }) => {
            const { what, help } = refusalWords(kind, detail);
            return (
              <>
                <strong>{what}</strong>
                <span class="under muted">{help}</span>
              </>
            );
          },
        },
        {
          head: 'Answer',
          cell: ({ kind, detail }) => <State tone="bad">{refusalWords(kind, detail).status}</State>,
        },
        { head: 'Last', cell: ({ lastAt }) => <ExactMoment at={lastAt} /> },
        { head: 'From', cell: ({ lastAddress }) => <bdi>{lastAddress ?? 'unknown'}</bdi> },
        { head: 'How often', isNumber: true, cell: ({ count }) => count.toLocaleString('en-GB') },
      ]}
    />
  );
}
