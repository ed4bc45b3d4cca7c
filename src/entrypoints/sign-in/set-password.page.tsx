import type { VNode } from 'preact';
import { withReturnTo } from '#platform/http/forms/return-to.js';
import { PostForm } from '#platform/web/forms/form.js';
import { say } from '#platform/language/text.js';
import type { LayoutProps } from '#platform/web/layout/layout.js';
import { Say, useShown, useText } from '#platform/web/layout/say.js';
import type { PasswordLinkPurpose } from '#access/users/passwords/password-link.entity.js';

export interface SetPasswordPageProps {
  /** Path to post to. */
  action: string;
  /** The email of the user; shown only, never posted. */
  email: string;
  /** Where the link comes from; null if that is not known. */
  purpose: PasswordLinkPurpose | null;
  /** Whether the password replaces one. */
  hasPassword: boolean;
  /** Where the person was going before the mail. */
  returnTo?: string;
  error?: string;
}

/** The form of a set-password link. It posts `password` and `password_again`. */
export const setPasswordPage = (props: SetPasswordPageProps): LayoutProps => ({
  title: say('Set password'),
  isTranslated: true,
  children: <SetPassword {...props} />,
});

function SetPassword(props: SetPasswordPageProps): VNode {
  const t = useText();
  const shown = useShown();
  const { action, email, error } = props;
  const invalid = error ? ({ 'aria-invalid': 'true' } as const) : {};
  const errorId = error ? 'password-error' : undefined;
  const rules = {
    type: 'password',
    autocomplete: 'new-password',
    minLength: 12,
    // No maxLength: browsers would silently truncate a longer password. The service reports that it is too long.
    required: true,
  } as const;
  return (
    <>
      <h1>{props.hasPassword ? t('Set a new password') : t('Choose your password')}</h1>
      <Purpose {...props} />
      {error && (
        <p class="notice notice-error" role="alert" id="password-error">
          {shown(error)}
        </p>
      )}
      <PostForm action={action}>
        <label for="email">{t('Email')}</label>
        {/* Shown as a field so that password managers store the new password under this address. */}
        <input id="email" type="email" autocomplete="username" readOnly value={email} />
        <label for="password">{t('New password')}</label>
        <input
          id="password"
          name="password"
          aria-describedby={[errorId, 'password-hint'].filter(Boolean).join(' ')}
          {...rules}
          {...invalid}
        />
        <small class="hint" id="password-hint">
          {t('12 to 256 characters. No other rules.')}
        </small>
        <label for="password-repeat">{t('Repeat new password')}</label>
        <input
          id="password-repeat"
          name="password_again"
          aria-describedby={errorId}
          {...rules}
          {...invalid}
        />
        <div class="actions">
          <button type="submit">{t('Set password')}</button>
        </div>
      </PostForm>
    </>
  );
}

/** Why the person got the link, and what comes of it. */
function Purpose({ purpose, hasPassword, returnTo }: SetPasswordPageProps): VNode | null {
  const t = useText();
  const replaced = hasPassword && t('It replaces the one you have, and logs you out everywhere else.');
  if (purpose === 'account_exists') {
    return (
      <p>
        <Say
          it="You already have an account with this email address. If you know its password, <login>log in</login>. If not, choose a new one here."
          with={{ login: (children) => <a href={withReturnTo('/login', returnTo)}>{children}</a> }}
        />{' '}
        {replaced}
      </p>
    );
  }
  if (purpose === 'forgotten_password') {
    return (
      <p>
        {t('Choose a new password in place of the one you forgot.')} {replaced}
      </p>
    );
  }
  if (purpose === null) return null;
  return hasPassword ? (
    <p>
      {t('An operator of this service made this link for you to choose a new password.')} {replaced}
    </p>
  ) : (
    <p>{t('Your account was made for you. Choose the password that you want to log in with.')}</p>
  );
}
