import { isId, type IdPrefix } from '../../../secrets/ids.js';

const PATHS: [IdPrefix, string][] = [
  ['user', 'users'],
  ['clnt', 'clients'],
  ['endp', 'endpoints'],
  ['dlvr', 'deliveries'],
];

/** Where the console shows what has this id; undefined where it has no page of its own. */
export function linkOf(id: string): string | undefined {
  const found = PATHS.find(([prefix]) => isId(prefix, id));
  return found && `/admin/console/${found[1]}/${id}`;
}
