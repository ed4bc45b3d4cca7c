import type { UserEntity } from './user.entity.js';

type Changes = Partial<Pick<UserEntity, 'email' | 'enabled' | 'webhooksEnabled' | 'passwordHash'>>;

/**
 * What an operator does to an account that its owner should know, each as the end of a sentence. A change of role has a notification
 * of its own.
 */
export function operatorChanges(before: UserEntity, changes: Changes): string[] {
  const { email, enabled, passwordHash, webhooksEnabled } = changes;
  return [
    ...(email !== undefined && email !== before.email ? ['changed the email address of your account'] : []),
    ...(passwordHash !== undefined ? ['set a new password for your account'] : []),
    ...(enabled !== undefined && enabled !== before.enabled
      ? [enabled ? 'enabled your account' : 'disabled your account']
      : []),
    ...(webhooksEnabled !== undefined && webhooksEnabled !== before.webhooksEnabled
      ? [`${webhooksEnabled ? 'opened' : 'closed'} the webhook portal to your applications`]
      : []),
  ];
}
