import type { ClientsService } from '#access/clients/clients.service.js';
import { isId } from '#platform/secrets/ids.js';
import type { UsersService } from '#access/users/accounts/users.service.js';

/** The names of users and clients by id; deleted ones are missing. */
export type PartyNames = ReadonlyMap<string, string>;

/** Reads the names of these users and clients in two queries. */
export async function partyNames(
  { users, clients }: { users: UsersService; clients: ClientsService },
  ids: readonly (string | null)[],
): Promise<PartyNames> {
  const of = (prefix: 'user' | 'clnt'): string[] => [
    ...new Set(ids.filter((id): id is string => id !== null && isId(prefix, id))),
  ];
  const found = await Promise.all([users.namesOf(of('user')), clients.namesOf(of('clnt'))]);
  return new Map(found.flat().map(({ id, name }) => [id, name]));
}
