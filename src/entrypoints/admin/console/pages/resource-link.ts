import { isId, type IdPrefix } from '#platform/secrets/ids.js';

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
