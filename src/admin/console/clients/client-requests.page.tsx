import type { ClientEntity } from '../../../clients/client.entity.js';
import type { ClientRequestEntity } from '../../../partners/request-log/client-request.entity.js';
import { requestColumns } from '../../../partners/request-log/request-table.js';
import { STATUS_FILTERS } from '../../../partners/request-log/request-filter.js';
import { SelectField, TextField } from '../../../web/forms/field.js';
import { FilterForm } from '../../../web/forms/form.js';
import { Table } from '../../../web/tables/table.js';
import type { ConsolePage } from '../pages/console-layout.js';
import { explanationPath } from '../search/explanation-path.js';
import { aboutClient, clientPath } from './client-layout.js';

/** The last requests of a client, newest first. */
export const clientRequestsPage = (
  client: ClientEntity,
  requests: ClientRequestEntity[],
  typed: { status: string; request_id: string },
): ConsolePage =>
  aboutClient(client, {
    current: 'requests',
    children: (
      <>
        <p>
          The last 200 requests of this client, a few seconds after they were answered. Requests whose client
          credentials were wrong are not among them: <a href={clientPath(client.id, 'refusals')}>Refusals</a>{' '}
          counts them.
        </p>
        <FilterForm path={clientPath(client.id, 'requests')} values={typed}>
          <SelectField name="status" label="Status" options={STATUS_FILTERS} />
          <TextField name="request_id" label="Request ID" spellcheck={false} />
        </FilterForm>
        {requests.length === 0 ? (
          <p class="empty">There are no such requests.</p>
        ) : (
          <Table caption="Requests" rows={requests} columns={requestColumns(explanationPath)} />
        )}
      </>
    ),
  });
