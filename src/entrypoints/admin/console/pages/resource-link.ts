import { isId, type IdPrefix } from '#platform/secrets/ids.js';

export const ENDPOINTS_PATH = '/admin/console/endpoints';

export const endpointPath = (id: string, part = ''): string => `${ENDPOINTS_PATH}/${id}${part && `/${part}`}`;

export const DELIVERIES_PATH = '/admin/console/deliveries';

export const deliveryPath = (id: string, part = ''): string =>
  `${DELIVERIES_PATH}/${id}${part && `/${part}`}`;

export const SEARCH_PATH = '/admin/console/search';

/** The page that explains the requests with this id. */
export const explanationPath = (requestId: string): string =>
  `/admin/console/requests/${encodeURIComponent(requestId)}`;

const PATHS: [IdPrefix, string][] = [
  ['user', 'users'],
  ['clnt', 'clients'],
  ['endp', 'endpoints'],
  ['dlvr', 'deliveries'],
  ['appr', 'approvals'],
  ['ruri', 'redirect-uris'],
];

/** The console page of the resource with this id; undefined if it has none. */
export function linkOf(id: string): string | undefined {
  const found = PATHS.find(([prefix]) => isId(prefix, id));
  return found && `/admin/console/${found[1]}/${id}`;
}
