import type { ClientEntity } from '#access/clients/client.entity.js';
import type { ClientRequestEntity } from '#events/partners/request-log/client-request.entity.js';
import type { RequestListQuery } from '#events/partners/request-log/request-filter.js';
import { RequestList } from '#events/partners/request-log/request-list.js';
import type { ConsolePage } from '../pages/console-layout.js';
import { explanationPath } from '../pages/resource-link.js';
import { aboutClient, clientPath } from './client-layout.js';

/** The last requests of a client, newest first. */
export const clientRequestsPage = (
  client: ClientEntity,
  requests: ClientRequestEntity[],
  query: RequestListQuery,
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
        <RequestList
          path={clientPath(client.id, 'requests')}
          query={query}
          requests={requests}
          pathOf={explanationPath}
        />
      </>
    ),
  });
