import type { VNode } from 'preact';
import { CsrfField } from '../../http/pages/csrf-field.js';
import { describedBy, FieldNotes, type FieldProps } from '../../http/pages/field.js';
import { ErrorNotice } from '../../http/pages/notices.js';
import type { UserLayoutProps } from '../../users/user-page-context.js';
import { renderAccountPage } from './account-layout.js';

/** What is wrong, by field. */
export interface PasswordErrors {
  current?: string;
  password?: string;
  again?: string;
}

export interface PasswordPageProps {
  layoutProps: UserLayoutProps;
  csrfToken: string;
  errors: PasswordErrors;
}

/** The form to change the password. It posts `current_password`, `password` and `password_again`. */
export function passwordPage({ layoutProps, csrfToken, errors }: PasswordPageProps): string {
  const failed = Object.keys(errors).length > 0;
  return renderAccountPage({
    ...layoutProps,
    title: 'Change your password',
    part: 'password',
    children: (
      <>
        {failed && <ErrorNotice>Your password was not changed. See the errors below.</ErrorNotice>}
        <p>
          You stay logged in here. You are logged out everywhere else, and every application that you
          authorized has to ask you again.
        </p>
        <form method="post" action="/account/password" class="narrow-form">
          <CsrfField token={csrfToken} />
          {/* Shown as a field so that password managers store the new password under this address. */}
          <label for="email">Email</label>
          <input id="email" type="text" autocomplete="username" readOnly value={layoutProps.user.email} />
          <PasswordField
            id="current-password"
            name="current_password"
            label="Current password"
            autocomplete="current-password"
            error={errors.current}
          />
          <PasswordField
            id="new-password"
            name="password"
            label="New password"
            autocomplete="new-password"
            minLength={12}
            hint="12 to 256 characters. No other rules."
            error={errors.password}
          />
          <PasswordField
            id="new-password-again"
            name="password_again"
            label="Repeat new password"
            autocomplete="new-password"
            minLength={12}
            error={errors.again}
          />
          <div class="actions">
            <button type="submit">Change password</button>
          </div>
        </form>
      </>
    ),
  });
}

interface PasswordFieldProps extends FieldProps {
  name: string;
  autocomplete: 'current-password' | 'new-password';
  minLength?: number;
}

/** No maxLength: browsers would silently truncate a longer password. The service reports that it is too long. */
function PasswordField({ id, label, hint, error, ...input }: PasswordFieldProps): VNode {
  return (
    <>
      <label for={id}>{label}</label>
      <input id={id} type="password" required {...input} {...describedBy({ id, hint, error })} />
      <FieldNotes id={id} hint={hint} error={error} />
    </>
  );
}
