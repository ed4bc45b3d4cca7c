import type { VNode } from 'preact';
import { formatMs } from '../../web/charts/numbers.js';
import { ExactMoment } from '../../web/tables/moment.js';
import { State } from '../../web/tables/state.js';
import type { Column } from '../../web/tables/table.js';
import type { ClientRequestEntity } from './client-request.entity.js';

export const StatusOfRequest = ({
  request: { status, error, injected },
}: {
  request: Pick<ClientRequestEntity, 'status' | 'error' | 'injected'>;
}): VNode => (
  <>
    <State tone={status < 400 ? 'good' : status < 500 ? 'warn' : 'bad'}>{String(status)}</State>
    {error && <code class="under whole">{error}</code>}
    {injected && <span class="under muted">made to fail in the sandbox</span>}
  </>
);

/** The columns of a list of requests, each of which leads to the page that explains it. */
export const requestColumns = (pathOf: (requestId: string) => string): Column<ClientRequestEntity>[] => [
  { head: 'Time', cell: ({ occurredAt }) => <ExactMoment at={occurredAt} /> },
  {
    head: 'Request',
    cell: ({ method, route, requestId }) => (
      <>
        <code>
          {method} {route}
        </code>
        <a class="under whole" href={pathOf(requestId)} aria-label={`Explain request ${requestId}`}>
          {requestId}
        </a>
      </>
    ),
  },
  { head: 'Status', cell: (request) => <StatusOfRequest request={request} /> },
  { head: 'Duration', isNumber: true, cell: ({ milliseconds }) => formatMs(milliseconds) },
];
