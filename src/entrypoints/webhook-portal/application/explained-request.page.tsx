import type { ClientRequestEntity } from '#events/partners/request-log/client-request.entity.js';
import { ExplainedRequests } from '#events/partners/request-log/explained-request.js';
import type { KnownRequest } from '#events/partners/request-log/known-requests.service.js';
import { requestColumns } from '#events/partners/request-log/request-table.js';
import { refusalMessageForPartner } from '#events/partners/refusals/refusal-messages.js';
import type { Delivery } from '#events/webhooks/deliveries/delivery.js';
import { DeliveryRows } from '../deliveries/delivery-rows.js';
import type { PortalPage } from '../frame/portal-layout.js';
import { Table } from '#platform/web/tables/table.js';
import { requestPath, REQUESTS_PATH } from './requests.page.js';

export interface ExplainedRequestProps {
  /** With one id, newest first. */
  requests: KnownRequest[];
  /** The client's requests up to then. */
  around: ClientRequestEntity[];
  /** The first ones of the events that it published. */
  deliveries: Delivery[];
}

/** Explains a request of the client: what it was, and how and why it was answered. */
export const explainedRequestPage = ({
  requests,
  around,
  deliveries,
}: ExplainedRequestProps): PortalPage => ({
  title: 'Request',
  part: 'requests',
  above: [{ href: REQUESTS_PATH, label: 'Requests' }],
  children: (
    <>
      <ExplainedRequests requests={requests} messageOf={refusalMessageForPartner} />
      {deliveries.length > 0 && (
        <section>
          <h2>Deliveries that it caused</h2>
          <DeliveryRows deliveries={deliveries} withEndpoint place="" />
        </section>
      )}
      {around.length > 1 && (
        <section>
          <h2>What this client asked for until then</h2>
          <Table
            caption="Requests of the client"
            isOneLine
            rows={around}
            columns={requestColumns(requestPath)}
          />
        </section>
      )}
    </>
  ),
});
