import { TextField, type FieldErrors } from '../../web/forms/field.js';
import { PageForm } from '../../web/forms/form.js';
import type { AccountPage } from './account-layout.js';

export interface PasswordPageProps {
  email: string;
  errors: FieldErrors;
}

/** The form to change the password. It posts `current_password`, `password` and `password_again`. */
export const passwordPage = ({ email, errors }: PasswordPageProps): AccountPage => ({
  title: 'Change your password',
  part: 'password',
  children: (
    <>
      <p>
        You stay logged in here. You are logged out everywhere else, and every application that you authorized
        has to ask you again.
      </p>
      <PageForm
        action="/account/password"
        class="narrow-form"
        errors={errors}
        alert="Your password was not changed. See the errors below."
        submit="Change password"
      >
        {/* Shown as a field so that password managers store the new password under this address. */}
        <label for="email">Email</label>
        <input id="email" type="text" autocomplete="username" readOnly value={email} />
        <TextField
          name="current_password"
          id="current-password"
          label="Current password"
          type="password"
          autocomplete="current-password"
          required
        />
        <TextField
          name="password"
          id="new-password"
          label="New password"
          type="password"
          autocomplete="new-password"
          minLength={12}
          hint="12 to 256 characters. No other rules."
          required
        />
        <TextField
          name="password_again"
          id="new-password-again"
          label="Repeat new password"
          type="password"
          autocomplete="new-password"
          minLength={12}
          required
        />
      </PageForm>
    </>
  ),
});

/** For someone who has no password to change: how to get one. */
export const noPasswordPage = ({ byMail }: { byMail: boolean }): AccountPage => ({
  title: 'Change your password',
  part: 'password',
  children: (
    <>
      <p>You have no password: you log in with a passkey, or with an account elsewhere.</p>
      <p>
        {byMail ? (
          <>
            If you want one, <a href="/password/forgotten">ask for a link to set it</a>. You are then logged
            out everywhere, and every application that you authorized has to ask you again.
          </>
        ) : (
          'If you want one, ask the operators of this service for a link to set it.'
        )}
      </p>
    </>
  ),
});
