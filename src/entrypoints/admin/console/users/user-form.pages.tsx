import type { VNode } from 'preact';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { USER_FORM, type UserFormValues, userFieldsOf } from '#access/users/accounts/user.resource.js';
import { ConsoleForm } from '../pages/console-form.js';
import { type ConsolePage, ForAdmins } from '../pages/console-layout.js';
import type { FieldErrors } from '#platform/web/forms/field.js';
import { aboutUser, USERS_PATH, userPath } from './user-layout.js';
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

interface FormProps {
  fields: UserFormValues;
  errors?: FieldErrors;
}

/** The form for creating a user; `withPassword`: whether people log in with passwords here. */
export function newUserPage({
  fields,
  errors,
  withPassword,
}: FormProps & { withPassword: boolean }): ConsolePage {
  return {
    part: 'users',
    title: 'Create user',
    above: [{ href: USERS_PATH, label: 'Users' }],
    children: (
      <>
        <p>
          {withPassword
            ? 'The user has no password at first. On the next page, create a link with which the person sets one.'
            : 'Passwords are switched off: the person logs in through an identity provider.'}
        </p>
        <ConsoleForm
          values={{ ...fields }}
          errors={errors}
          action={`${USERS_PATH}/new`}
          submit="Create user"
          cancel={USERS_PATH}
        >
          <Fields />
        </ConsoleForm>
      </>
    ),
  };
}

/** The form for editing a user. */
export function editUserPage({ user, fields, errors }: FormProps & { user: UserEntity }): ConsolePage {
  return aboutUser(user, {
    title: 'Edit user',
    children: (
      <>
        <p>A new email address logs the user out everywhere and revokes all tokens for the account.</p>
        <ConsoleForm
          values={{ ...fields }}
          errors={errors}
          action={userPath(user.id, 'edit')}
          hidden={USER_FORM.shown(userFormOf(user))}
          submit="Save"
          cancel={userPath(user.id)}
        >
          <Fields />
        </ConsoleForm>
      </>
    ),
  });
}

const Fields = (): VNode => (
  <>
    {USER_FORM.show(['email', 'email_verified', 'name', 'language', 'kind'])}
    <ForAdmins>{USER_FORM.show(['webhooks_enabled'])}</ForAdmins>
  </>
);
