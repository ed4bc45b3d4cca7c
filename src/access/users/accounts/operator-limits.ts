import type { Actor } from '#records/audit/audit.service.js';
import { roleNeeded } from '#platform/config/operator-role.js';
import { roleTooLow } from '#platform/http/problems/problem.js';
import type { UserEntity } from './user.entity.js';

/**
 * Whether the actor is neither an admin, nor a client of one, nor the service itself (contract §17). A missing or unknown role
 * counts as limited.
 */
export const isLimited = ({ type, operatorRole }: Actor): boolean =>
  type !== 'service' && operatorRole !== 'admin';

/** Throws a 403 problem for someone who is not an admin and gives someone a role, a password or the webhook portal. */
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
      `You may change a user's email, name, language and kind, and enable or disable it. ${roleNeeded('admin')}`,
    );
  }
}
