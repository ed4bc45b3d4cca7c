import type { ClientRequestEntity } from '#events/partners/request-log/client-request.entity.js';
import type { RequestListQuery } from '#events/partners/request-log/request-filter.js';
import { RequestList } from '#events/partners/request-log/request-list.js';
import type { PortalPage } from '../frame/portal-layout.js';

export const REQUESTS_PATH = '/portal/requests';

/** The page that explains the requests of the client with this id. */
export const requestPath = (requestId: string): string => `${REQUESTS_PATH}/${encodeURIComponent(requestId)}`;

/** The last requests of the client, newest first. */
export const requestsPage = (requests: ClientRequestEntity[], query: RequestListQuery): PortalPage => ({
  title: 'Requests',
  part: 'requests',
  children: (
    <>
      <p>
        The last 200 requests of this client, a few seconds after they were answered. Requests whose client
        credentials were wrong are not among them, because anybody can send a client ID:{' '}
        <a href="/portal/refusals">Refusals</a> counts them.
      </p>
      <RequestList path={REQUESTS_PATH} query={query} requests={requests} pathOf={requestPath} />
    </>
  ),
});
