import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { USER_FORM, userFieldsOf, type UserFormValues } from '#access/users/accounts/user.resource.js';
import type { ConsoleContext } from '../console-context.js';

export const userFormOf = (user: UserEntity): UserFormValues => USER_FORM.of(userFieldsOf(user));

/** Whether a change may give someone else access: through a link mailed to another address, or through the webhook portal. */
export const userChangeGivesPower = (user: UserEntity, fields: UserFormValues): boolean =>
  fields.email.trim() !== user.email || (fields.webhooks_enabled && !user.webhooksEnabled);

/**
 * What was typed for a new user, or the present values with what was changed. Only admins' forms have the field for the webhook portal; otherwise it
 * stays as it is.
 */
export const userFormIn = ({ form, role }: ConsoleContext, present?: UserFormValues): UserFormValues => {
  const { webhooks_enabled } = present ?? USER_FORM.empty();
  return {
    ...(present ? USER_FORM.changedIn(form, present) : USER_FORM.in(form)),
    ...(role === 'admin' ? {} : { webhooks_enabled }),
  };
};
