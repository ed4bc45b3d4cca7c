import { validationFailed, type Problem } from '#platform/http/problems/problem.js';
import type { UserEntity } from './user.entity.js';
import type { UserChanges } from './user.resource.js';
import { violation } from '#platform/http/problems/violation.js';

/** A new address is not verified, unless someone vouches for it; undefined if nothing changes. */
export function emailVerifiedAfter(
  before: UserEntity,
  { emailVerified }: UserChanges,
  isNewEmail: boolean,
): boolean | undefined {
  if (emailVerified === true && before.emailVerifiedAt !== null && !isNewEmail) return undefined;
  return emailVerified ?? (isNewEmail ? false : undefined);
}

/** Whether this is an enabled admin. */
export const isAdmin = ({ operatorRole, enabled }: UserEntity): boolean =>
  operatorRole === 'admin' && enabled;

/** Whether a change may leave one enabled admin less. */
export const mayEndAdmin = ({ role, operatorRole, enabled }: UserChanges): boolean =>
  role !== undefined || operatorRole !== undefined || enabled === false;

/** The roles that a change leads to: an operator keeps the role if none is given, and anybody else becomes an admin. */
export function rolesAfter(
  before: UserEntity,
  { role, operatorRole }: UserChanges,
): Partial<Pick<UserEntity, 'role' | 'operatorRole'>> {
  if (role === undefined && operatorRole === undefined) return {};
  const after = role ?? before.role;
  if (after !== 'operator') {
    if (operatorRole !== undefined) throw onlyForOperators();
    return { role: after, operatorRole: null };
  }
  return { role: after, operatorRole: operatorRole ?? before.operatorRole ?? 'admin' };
}

/** What a driver of a sandbox cannot have, because nobody logs in as one. Throws a 400 problem with `field_errors`. */
export function refuseForDriver(before: UserEntity, changes: UserChanges, newPassword: boolean): void {
  if (before.environment === 'live') return;
  const {
    email = before.email,
    language = before.language,
    role = before.role,
    webhooksEnabled = before.webhooksEnabled,
  } = changes;
  const members: [name: string, isWrong: boolean][] = [
    ['email', email !== before.email],
    ['language', language !== before.language],
    ['password', newPassword],
    ['email_verified', changes.emailVerified === true],
    ['role', role !== before.role],
    ['operator_role', changes.operatorRole !== undefined],
    ['webhooks_enabled', webhooksEnabled !== before.webhooksEnabled],
  ];
  const wrong = members.filter(([, isWrong]) => isWrong);
  if (wrong.length === 0) return;
  throw validationFailed(Object.fromEntries(wrong.map(([name]) => [name, [violation('fixed_for_driver')]])));
}

export const onlyForOperators = (): Problem =>
  validationFailed({ operator_role: [violation('not_operator')] });
