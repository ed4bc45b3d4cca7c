import type { Actor } from '../../audit/audit.service.js';
import { roleNeeded } from '../../config/operator-role.js';
import { roleTooLow } from '../../http/problems/problem.js';
import type { UserEntity } from './user.entity.js';

/** Whether this is an operator, or an operator's client, who is not an admin (contract §17). */
export const isLimited = ({ operatorRole }: Actor): boolean =>
  operatorRole !== undefined && operatorRole !== 'admin';

/** Throws a 403 problem for an operator who is not an admin and acts on an operator. */
export function refuseOnOperator(actor: Actor, { role }: Pick<UserEntity, 'role'>): void {
  if (isLimited(actor) && role === 'operator') {
    throw roleTooLow(`This user is an operator. ${roleNeeded('admin')}`);
  }
}

/** Throws a 403 problem for an operator who is not an admin and gives somebody a role, a password or the webhook portal. */
export function refuseGivingPower(
  actor: Actor,
  before: Pick<UserEntity, 'role' | 'webhooksEnabled'>,
  after: Pick<UserEntity, 'role' | 'webhooksEnabled'>,
  givesPassword: boolean,
): void {
  if (!isLimited(actor)) return;
  const refused =
    after.role === 'operator' || givesPassword || after.webhooksEnabled !== before.webhooksEnabled;
  if (refused) {
    throw roleTooLow(
      `You may change a user's email, name and kind, and enable or disable it. ${roleNeeded('admin')}`,
    );
  }
}
