import type { AuditEventEntity } from '../../../audit/audit-event.entity.js';
import type { ClientRequestEntity } from '../../../partners/request-log/client-request.entity.js';
import { formatMs } from '../../../web/charts/numbers.js';
import { Facts } from '../../../web/tables/facts.js';
import { ExactMoment } from '../../../web/tables/moment.js';
import { Table } from '../../../web/tables/table.js';
import { clientPath } from '../clients/client-layout.js';
import { requestColumns, StatusOfRequest } from '../clients/client-requests.page.js';
import type { ConsolePage } from '../pages/console-layout.js';
import { Id, pathWith } from '../pages/lists.js';
import { linkOf } from '../pages/resource-link.js';
import { reasonOf } from '../../../partners/refusals/reason-of-request.js';
import { refusalMessage } from '../clients/operator-refusal-messages.js';
import type { KnownRequest } from './explained-requests.service.js';
import { SEARCH_PATH } from './explanation-path.js';

export interface ExplainedRequestProps {
  id: string;
  /** With this id, newest first. */
  requests: KnownRequest[];
  /** Of the client of the newest one, up to then. */
  around: ClientRequestEntity[];
  /** What it changed. */
  changes: AuditEventEntity[];
}

/** Says of a request what it was, who sent it, what became of it and why. */
export const explainedRequestPage = ({
  id,
  requests,
  around,
  changes,
}: ExplainedRequestProps): ConsolePage => ({
  title: 'Request',
  part: 'search',
  above: [{ href: SEARCH_PATH, label: 'Search' }],
  children: (
    <>
      {requests.length > 1 && (
        <p>Callers may choose the ID of a request. These {requests.length} have the same, newest first.</p>
      )}
      {requests.map((request) => (
        <Explained id={id} request={request} />
      ))}
      {changes.length > 0 && (
        <>
          <h2>What it changed</h2>
          <Table
            caption="What it changed"
            rows={changes}
            columns={[
              { head: 'Time', cell: ({ occurredAt }) => <ExactMoment at={occurredAt} /> },
              { head: 'Action', cell: ({ action }) => <span class="whole">{action}</span> },
              { head: 'Subject', cell: ({ subjectId }) => <Subject id={subjectId} /> },
            ]}
          />
        </>
      )}
      {around.length > 1 && (
        <>
          <h2>What this client asked for until then</h2>
          <Table caption="Requests of the client" rows={around} columns={requestColumns} />
        </>
      )}
      <p>
        <a href={pathWith('/admin/console/audit', { request_id: id })}>Audit log of this request</a>
      </p>
    </>
  ),
});

function Explained({ id, request }: { id: string; request: KnownRequest }) {
  const { occurredAt, method, route, clientId, milliseconds } = request;
  const reason = reasonOf(request, refusalMessage);
  return (
    <>
      {reason && (
        <section class="verdict verdict-bad" aria-label="Why it was refused">
          <h2>{reason.what}</h2>
          <p>{reason.help}</p>
        </section>
      )}
      <Facts
        facts={[
          ['Request ID', <code class="whole">{id}</code>],
          ['Time', <ExactMoment at={occurredAt} />],
          [
            'Request',
            <code>
              {method} {route}
            </code>,
          ],
          ['Status', <StatusOfRequest request={request} />],
          [
            'Client',
            clientId ? (
              <a href={clientPath(clientId)}>
                <Id id={clientId} />
              </a>
            ) : (
              'none that is known'
            ),
          ],
          ['Duration', formatMs(milliseconds)],
        ]}
      />
    </>
  );
}

function Subject({ id }: { id: string }) {
  const href = linkOf(id);
  return href ? (
    <a href={href}>
      <Id id={id} />
    </a>
  ) : (
    <span class="whole">{id}</span>
  );
}
