import type { VNode } from 'preact';
import type { ClientRequestEntity } from '../../partners/request-log/client-request.entity.js';
import { STATUS_FILTERS } from '../../partners/request-log/request-filter.js';
import { formatMs } from '../../web/charts/numbers.js';
import { SelectField, TextField } from '../../web/forms/field.js';
import { FilterForm } from '../../web/forms/form.js';
import { ExactMoment } from '../../web/tables/moment.js';
import { State } from '../../web/tables/state.js';
import { PortalTable } from '../frame/portal-table.js';
import type { PortalPage } from '../frame/portal-layout.js';

const PATH = '/portal/requests';

/** The last requests of the client, newest first. */
export const requestsPage = (
  requests: ClientRequestEntity[],
  typed: { status: string; request_id: string },
): PortalPage => ({
  title: 'Requests',
  part: 'requests',
  children: (
    <>
      <p>
        The last 200 requests of this client, a few seconds after they were answered. Requests whose client
        credentials were wrong are not among them, because anybody can send a client ID:{' '}
        <a href="/portal/refusals">Refusals</a> counts them.
      </p>
      <FilterForm path={PATH} values={typed}>
        <SelectField name="status" label="Status" options={STATUS_FILTERS} />
        <TextField name="request_id" label="Request ID" spellcheck={false} />
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
