import { say } from '#platform/language/text.js';
import type { UserEntity } from './user.entity.js';

type Changes = Partial<Pick<UserEntity, 'email' | 'enabled' | 'webhooksEnabled' | 'passwordHash'>>;

/** Changes by operators that the owner of an account is notified of. A change of role has its own notification. */
export function operatorChanges(before: UserEntity, changes: Changes): string[] {
  const { email, enabled, passwordHash, webhooksEnabled } = changes;
  return [
    ...(email !== undefined && email !== before.email
      ? [say('An operator changed the email address of your account.')]
      : []),
    ...(passwordHash !== undefined ? [say('An operator set a new password for your account.')] : []),
    ...(enabled !== undefined && enabled !== before.enabled
      ? [enabled ? say('An operator enabled your account.') : say('An operator disabled your account.')]
      : []),
    ...(webhooksEnabled !== undefined && webhooksEnabled !== before.webhooksEnabled
      ? [
          webhooksEnabled
            ? say('An operator opened the webhook portal to your applications.')
            : say('An operator closed the webhook portal to your applications.'),
        ]
      : []),
  ];
}
