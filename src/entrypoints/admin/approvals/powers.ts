import type { ClientChanges } from '#access/clients/client.resource.js';
import { conflict } from '#platform/http/problems/problem.js';
import type { UserChanges } from '#access/users/accounts/user.resource.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';

/** Whether the client can use the admin API. */
export const isAdminClient = ({ scopes }: { scopes: string[] }): boolean =>
  scopes.some((scope) => scope === 'admin:read' || scope === 'admin:write');

/** The members whose values differ from the present ones. */
export function changed<T extends object>(before: object, changes: T): Partial<T> {
  const now = before as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(changes).filter(
      ([name, value]) => value !== undefined && JSON.stringify(value) !== JSON.stringify(now[name]),
    ),
  ) as Partial<T>;
}

/**
 * Whether a change gives someone an operator role or takes it, or opens the account to the person who makes it, or closes a way
 * into it. Disabling is not among them: it stops an attack.
 */
export const userPowersIn = (before: UserEntity, wanted: UserChanges): boolean =>
  wanted.role !== undefined ||
  wanted.operatorRole !== undefined ||
  wanted.password !== undefined ||
  wanted.email !== undefined ||
  wanted.enabled === true ||
  (wanted.emailVerified ?? isVerified(before)) !== isVerified(before);

const isVerified = ({ emailVerifiedAt }: UserEntity): boolean => emailVerifiedAt !== null;

export const clientPowersIn = (wanted: ClientChanges): boolean =>
  wanted.enabled === true || wanted.companyService === true;

/** Throws a 409 problem if anything else changes than these. */
export function onlyThese<T extends object>(wanted: T, names: readonly (keyof T)[], what: string): void {
  const others = (Object.keys(wanted) as (keyof T)[]).filter((name) => !names.includes(name));
  if (others.length > 0) throw conflict(`A second admin approves ${what}, and the rest separately.`);
}
