import type { VNode } from 'preact';
import { say } from '#platform/language/text.js';
import { TextField, type FieldErrors } from '#platform/web/forms/field.js';
import { NewPasswordFields } from '#platform/web/forms/new-password-fields.js';
import { PageForm } from '#platform/web/forms/form.js';
import { Say, useText } from '#platform/web/layout/say.js';
import type { AccountPage } from './account-layout.js';
import { linkTo } from './message-parts.js';

export interface PasswordPageProps {
  email: string;
  errors: FieldErrors;
}

/** The form to change the password. It posts `current_password`, `password` and `password_again`. */
export const passwordPage = (props: PasswordPageProps): AccountPage => ({
  title: say('Change your password'),
  part: 'security',
  children: <Password {...props} />,
});

function Password({ email, errors }: PasswordPageProps): VNode {
  const t = useText();
  return (
    <>
      <p>
        {t(
          'You stay logged in here. You are logged out everywhere else, and every application that you authorized has to ask you again.',
        )}
      </p>
      <PageForm
        action="/account/password"
        class="narrow-form"
        errors={errors}
        alert={t('Your password was not changed. See the errors below.')}
        submit={t('Change password')}
      >
        {/* Shown as a field so that password managers store the new password under this address. */}
        <label for="email">{t('Email')}</label>
        <input id="email" type="text" autocomplete="username" readOnly value={email} />
        <TextField
          name="current_password"
          id="current-password"
          label={t('Current password')}
          type="password"
          autocomplete="current-password"
          required
        />
        <NewPasswordFields id="new-password" label={t('New password')} repeated={t('Repeat new password')} />
      </PageForm>
    </>
  );
}

/** For a user without a password: how to get one. */
export const noPasswordPage = ({ byMail }: { byMail: boolean }): AccountPage => ({
  title: say('Change your password'),
  part: 'security',
  children: <NoPassword byMail={byMail} />,
});

function NoPassword({ byMail }: { byMail: boolean }): VNode {
  const t = useText();
  return (
    <>
      <p>{t('You have no password: you log in with a passkey, or with an account elsewhere.')}</p>
      <p>
        {byMail ? (
          <Say
            it="If you want one, <link>ask for a link to set it</link>. You are then logged out everywhere, and every application that you authorized has to ask you again."
            with={{ link: linkTo('/password/forgotten') }}
          />
        ) : (
          t('If you want one, ask the operators of this service for a link to set it.')
        )}
      </p>
    </>
  );
}
