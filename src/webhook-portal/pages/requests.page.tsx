import type { VNode } from 'preact';
import type { ClientRequestEntity } from '../../partners/request-log/client-request.entity.js';
import { formatMs } from '../../web/charts/numbers.js';
import { SelectField } from '../../web/forms/field.js';
import { FilterForm } from '../../web/forms/form.js';
import { ExactMoment } from '../../web/tables/moment.js';
import { State } from '../../web/tables/state.js';
import { PortalTable } from './portal-table.js';
import type { PortalPage } from './portal-layout.js';

const PATH = '/portal/requests';

/** What the list can be filtered by. */
export const STATUS_FILTERS = [
  { value: '', label: 'All', from: 100, to: 599 },
  { value: '2xx', label: '2xx: served', from: 200, to: 299 },
  { value: '4xx', label: '4xx: refused', from: 400, to: 499 },
  { value: '400', label: '400: malformed or invalid', from: 400, to: 400 },
  { value: '401', label: '401: not authenticated', from: 401, to: 401 },
  { value: '403', label: '403: not allowed', from: 403, to: 403 },
  { value: '404', label: '404: not found', from: 404, to: 404 },
  { value: '429', label: '429: too many', from: 429, to: 429 },
  { value: '5xx', label: '5xx: failed here', from: 500, to: 599 },
];

/** The last requests of the client, newest first. */
export const requestsPage = (requests: ClientRequestEntity[], status: string): PortalPage => ({
  title: 'Requests',
  part: 'requests',
  children: (
    <>
      <p>
        The last 200 requests of this application, a few seconds after they were answered. Requests whose
        client credentials were wrong are not among them, because anybody can send a client ID:{' '}
        <a href="/portal/refusals">Refusals</a> counts them.
      </p>
      <FilterForm path={PATH} values={{ status }}>
        <SelectField name="status" label="Status" options={STATUS_FILTERS} />
      </FilterForm>
      {requests.length === 0 ? (
        <p class="empty">There are no such requests.</p>
      ) : (
        <PortalTable
          caption="Requests"
          rows={requests}
          columns={[
            { head: 'Time', cell: ({ occurredAt }) => <ExactMoment at={occurredAt} /> },
            {
              head: 'Request',
              cell: ({ method, route }) => (
                <code>
                  {method} {route}
                </code>
              ),
            },
            { head: 'Status', cell: (request) => <Status request={request} /> },
            { head: 'Error', cell: ({ error }) => (error ? <code class="whole">{error}</code> : '–') },
            { head: 'Request ID', cell: ({ requestId }) => <code class="id">{requestId}</code> },
            { head: 'Duration', isNumber: true, cell: ({ milliseconds }) => formatMs(milliseconds) },
          ]}
        />
      )}
    </>
  ),
});

const Status = ({ request: { status, injected } }: { request: ClientRequestEntity }): VNode => (
  <>
    <State tone={status < 400 ? 'good' : status < 500 ? 'warn' : 'bad'}>{String(status)}</State>
    {injected && <span class="under muted">made to fail in the sandbox</span>}
  </>
);
