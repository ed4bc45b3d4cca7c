import type { VNode } from 'preact';
import { formatMs } from '#platform/web/charts/numbers.js';
import { ExactMoment } from '#platform/web/tables/moment.js';
import { State } from '#platform/web/tables/state.js';
import type { Column } from '#platform/web/tables/table.js';
import type { ClientRequestEntity } from './client-request.entity.js';

export const StatusOfRequest = ({
  request: { status, error, injected },
}: {
  request: Pick<ClientRequestEntity, 'status' | 'error' | 'injected'>;
}): VNode => (
  <>
    <StatusBadge status={status} /> {error && <code class="whole">{error}</code>}{' '}
    {injected && <span class="muted">made to fail in the sandbox</span>}
  </>
);

const StatusBadge = ({ status }: { status: number }): VNode => (
  <State tone={status < 400 ? 'good' : status < 500 ? 'warn' : 'bad'}>{String(status)}</State>
);

/** The columns of a list of requests, each of which leads to the page that explains it. */
export const requestColumns = (pathOf: (requestId: string) => string): Column<ClientRequestEntity>[] => [
  {
    head: 'Request',
    cell: ({ method, route, requestId }) => (
      <a href={pathOf(requestId)}>
        <span class="visually-hidden">Explain request {requestId}: </span>
        {method} {route}
      </a>
    ),
  },
  {
    head: 'Status',
    cell: ({ status }) => <StatusBadge status={status} />,
    onPhone: 'beside',
  },
  {
    head: 'Duration',
    isNumber: true,
    cell: ({ milliseconds }) => formatMs(milliseconds),
    onPhone: 'unfolded',
  },
  // Compared with the log of the client, so exactly.
  { head: 'Time', cell: ({ occurredAt }) => <ExactMoment at={occurredAt} /> },
  {
    head: 'Error',
    cell: ({ error, injected }) =>
      (error ?? injected) && (
        <>
          {error && <code class="whole">{error}</code>}
          {injected && ' made to fail in the sandbox'}
        </>
      ),
  },
];
