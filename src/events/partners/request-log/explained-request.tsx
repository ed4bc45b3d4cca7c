import type { ComponentChildren, VNode } from 'preact';
import type { ActivityKind } from '#records/activity/activity.js';
import { formatMs } from '#platform/web/charts/numbers.js';
import { Facts } from '#platform/web/tables/facts.js';
import { ExactMoment } from '#platform/web/tables/moment.js';
import { reasonOf } from '../refusals/reason-of-request.js';
import type { RefusalMessage } from '../refusals/refusal-message.js';
import type { KnownRequest } from './known-requests.service.js';
import { StatusOfRequest } from './request-table.js';

export interface ExplainedRequestsProps {
  /** With the same id, newest first. */
  requests: KnownRequest[];
  /** The words for this reader. */
  messageOf: (kind: ActivityKind, detail: string) => RefusalMessage;
  /** How the client of a request is shown; omitted if it is the reader's own. */
  clientOf?: (clientId: string | null) => ComponentChildren;
}

/** Explains requests: what they were, their results and the reasons. */
export const ExplainedRequests = ({ requests, ...props }: ExplainedRequestsProps): VNode => (
  <>
    {requests.length > 1 && (
      <p>Callers may choose the ID of a request. These {requests.length} have the same, newest first.</p>
    )}
    {requests.map((request, n) => {
      const label = requests.length > 1 ? `Why request ${n + 1} was refused` : 'Why it was refused';
      const explained = <Explained request={request} label={label} {...props} />;
      return n === 0 ? explained : <Earlier request={request}>{explained}</Earlier>;
    })}
  </>
);

const Earlier = ({ request, children }: { request: KnownRequest; children: VNode }): VNode => (
  <details>
    <summary>
      <code>
        {request.method} {request.route}
      </code>{' '}
      {request.status}, <ExactMoment at={request.occurredAt} />
    </summary>
    {children}
  </details>
);

function Explained({
  request,
  label,
  messageOf,
  clientOf,
}: { request: KnownRequest; label: string } & Omit<ExplainedRequestsProps, 'requests'>): VNode {
  const { requestId, occurredAt, method, route, clientId, milliseconds } = request;
  const reason = reasonOf(request, messageOf);
  return (
    <>
      {reason && (
        <section class="verdict verdict-bad" aria-label={label}>
          <h2>{reason.what}</h2>
          <p>{reason.help}</p>
        </section>
      )}
      <Facts
        facts={[
          ['Request ID', <code class="whole">{requestId}</code>],
          ['Time', <ExactMoment at={occurredAt} />],
          [
            'Request',
            <code>
              {method} {route}
            </code>,
          ],
          ['Status', <StatusOfRequest request={request} />],
          clientOf !== undefined && ['Client', clientOf(clientId)],
          ['Duration', formatMs(milliseconds)],
        ]}
      />
    </>
  );
}
