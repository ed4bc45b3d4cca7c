import type { AuditEventEntity } from '#records/audit/audit-event.entity.js';
import type { ClientRequestEntity } from '#events/partners/request-log/client-request.entity.js';
import { ExplainedRequests } from '#events/partners/request-log/explained-request.js';
import type { KnownRequest } from '#events/partners/request-log/known-requests.service.js';
import { requestColumns } from '#events/partners/request-log/request-table.js';
import { ExactMoment } from '#platform/web/tables/moment.js';
import { Table } from '#platform/web/tables/table.js';
import type { Delivery } from '#events/webhooks/deliveries/delivery.js';
import { refusalMessage } from '../clients/operator-refusal-messages.js';
import type { ConsolePage } from '../pages/console-layout.js';
import { Id, Party, pathWith, type PartyNames } from '../pages/lists.js';
import { linkOf, explanationPath, SEARCH_PATH } from '../pages/resource-link.js';
import { deliveryColumns } from '../webhooks/deliveries.page.js';

export interface ExplainedRequestProps {
  id: string;
  /** With this id, newest first. */
  requests: KnownRequest[];
  /** The events of the newest request's client, up to that time. */
  around: ClientRequestEntity[];
  /** The audit events of the request. */
  changes: AuditEventEntity[];
  /** The first ones of the events that it published. */
  deliveries: Delivery[];
  /** Of the clients. */
  names: PartyNames;
}

/** Explains a request: what it was, who sent it, its result and the reason. */
export const explainedRequestPage = ({
  id,
  requests,
  around,
  changes,
  deliveries,
  names,
}: ExplainedRequestProps): ConsolePage => ({
  title: 'Request',
  part: 'search',
  above: [{ href: SEARCH_PATH, label: 'Search' }],
  children: (
    <>
      <ExplainedRequests
        requests={requests}
        messageOf={refusalMessage}
        clientOf={(clientId) =>
          clientId === null ? 'none that is known' : <Party id={clientId} names={names} />
        }
      />
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
            unfolds
          />
        </>
      )}
      {deliveries.length > 0 && (
        <>
          <h2>Deliveries that it caused</h2>
          <Table
            caption="Deliveries that it caused"
            isOneLine
            rows={deliveries}
            columns={deliveryColumns(names)}
          />
        </>
      )}
      {around.length > 1 && (
        <>
          <h2>What this client asked for until then</h2>
          <Table
            caption="Requests of the client"
            isOneLine
            rows={around}
            columns={requestColumns(explanationPath)}
          />
        </>
      )}
      <p>
        <a href={pathWith('/admin/console/audit', { request_id: id })}>Audit log of this request</a>
      </p>
    </>
  ),
});

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
