import type { UserEntity } from './user.entity.js';

type Changes = Partial<
  Pick<UserEntity, 'email' | 'role' | 'enabled' | 'webhooksEnabled'> & { password: string }
>;

/** What an operator does to an account that its owner should know, each as the end of a sentence. */
export function operatorChanges(before: UserEntity, changes: Changes): string[] {
  const { email, role, enabled, password, webhooksEnabled } = changes;
  return [
    ...(email !== undefined && email !== before.email ? ['changed the email address of your account'] : []),
    ...(password !== undefined ? ['set a new password for your account'] : []),
    ...(role !== undefined && role !== before.role
      ? [role === 'operator' ? 'made you an operator' : 'ended your role as an operator']
      : []),
    ...(enabled !== undefined && enabled !== before.enabled
      ? [enabled ? 'enabled your account' : 'disabled your account']
      : []),
    ...(webhooksEnabled !== undefined && webhooksEnabled !== before.webhooksEnabled
      ? [`${webhooksEnabled ? 'opened' : 'closed'} the webhook portal to your applications`]
      : []),
  ];
}
