import type { ClientRequestEntity } from '../../partners/request-log/client-request.entity.js';
import { requestColumns } from '../../partners/request-log/request-table.js';
import { STATUS_FILTERS } from '../../partners/request-log/request-filter.js';
import { SelectField, TextField } from '../../web/forms/field.js';
import { FilterForm } from '../../web/forms/form.js';
import { PortalTable } from '../frame/portal-table.js';
import type { PortalPage } from '../frame/portal-layout.js';

export const REQUESTS_PATH = '/portal/requests';

/** The page that explains the requests of the client with this id. */
export const requestPath = (requestId: string): string => `${REQUESTS_PATH}/${encodeURIComponent(requestId)}`;

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
      <FilterForm path={REQUESTS_PATH} values={typed}>
        <SelectField name="status" label="Status" options={STATUS_FILTERS} />
        <TextField name="request_id" label="Request ID" spellcheck={false} />
      </FilterForm>
      {requests.length === 0 ? (
        <p class="empty">There are no such requests.</p>
      ) : (
        <PortalTable caption="Requests" rows={requests} columns={requestColumns(requestPath)} />
      )}
    </>
  ),
});
