import { TextField, type FieldErrors } from '../../web/forms/field.js';
import { PageForm } from '../../web/forms/form.js';
import { PASSKEY_SCRIPT, PasskeyInstead } from '../../web/forms/passkey-button.js';
import type { LayoutProps } from '../../web/layout/layout.js';

export interface SignUpPageProps {
  /** Path to post to. */
  action: string;
  /** The address that the link was mailed to; shown only, never posted. */
  email: string;
  name?: string;
  errors?: FieldErrors;
  /** The organisation that invited the person. */
  invitedBy?: string;
  /** Where our script gets the options for a passkey; without it, none is offered. */
  passkeyOptions?: string;
}

const FORM_ID = 'sign-up';

/**
 * The form that creates an account. It posts `name`, `password` and `password_again`; our script posts `response` in place of the
 * passwords.
 */
export const signUpPage = ({
  action,
  email,
  name,
  errors = {},
  invitedBy,
  passkeyOptions,
}: SignUpPageProps): LayoutProps => ({
  title: 'Create your account',
  scripts: passkeyOptions === undefined ? [] : [PASSKEY_SCRIPT],
  children: (
    <>
      <h1>Create your account</h1>
      {invitedBy !== undefined && (
        <p>
          <bdi class="name">{invitedBy}</bdi> invites you to its partner portal. You need an account for it.
        </p>
      )}
      <PageForm
        action={action}
        id={FORM_ID}
        hidden={passkeyOptions === undefined ? undefined : { response: '' }}
        values={{ name }}
        errors={errors}
        alert="Your account was not created. See the errors below."
        submit="Create account"
        noValidate
      >
        <label for="email">Email</label>
        {/* Shown as a field so that password managers store the new password under this address. */}
        <input id="email" type="text" autocomplete="username" readOnly value={email} />
        <TextField name="name" label="Name" autocomplete="name" required />
        <TextField
          name="password"
          label="Password"
          type="password"
          autocomplete="new-password"
          minLength={12}
          hint="12 to 256 characters. No other rules."
          required
        />
        <TextField
          name="password_again"
          id="password-again"
          label="Repeat password"
          type="password"
          autocomplete="new-password"
          minLength={12}
          required
        />
      </PageForm>
      {passkeyOptions !== undefined && (
        <PasskeyInstead form={FORM_ID} options={passkeyOptions} without="Choose a password." />
      )}
    </>
  ),
});
