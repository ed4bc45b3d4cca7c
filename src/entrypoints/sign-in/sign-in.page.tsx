import type { VNode } from 'preact';
import { withReturnTo } from '#platform/http/forms/return-to.js';
import { ProviderButtons, type ProviderName } from '#access/identity-providers/pages/provider-buttons.js';
import { PostForm } from '#platform/web/forms/form.js';
import { PASSKEY_SCRIPT, PasskeySection } from '#platform/web/forms/passkey-button.js';
import { say } from '#platform/language/text.js';
import type { LayoutProps } from '#platform/web/layout/layout.js';
import { ErrorNotice } from '#platform/web/layout/notices.js';
import { Say, useShown, useText } from '#platform/web/layout/say.js';
import { TIMES_SCRIPT } from '#platform/web/tables/moment.js';

export interface SignInPageProps {
  /** Where to go after login; posted back unchanged. */
  returnTo?: string;
  /** Fills in the email field again after a failed attempt. */
  email?: string;
  error?: string;
  /** Said instead if nothing is wrong with what was typed. */
  notice?: string;
  /** The application that sent the user here, or the part of this service, if one did. */
  clientName?: string;
  /** Other services that users can log in through. */
  providers: readonly ProviderName[];
  /** Whether the page asks for email and password. */
  withPassword: boolean;
  /** Whether a forgotten password can be set anew by mail. */
  offersNewPassword?: boolean;
  /** Whether people make their own accounts. */
  offersSignUp?: boolean;
}

export const signInPage = (props: SignInPageProps): LayoutProps => ({
  title: say('Log in'),
  scripts: [TIMES_SCRIPT, PASSKEY_SCRIPT],
  isTranslated: true,
  children: <Login {...props} />,
});

function Login(props: SignInPageProps): VNode {
  const t = useText();
  const shown = useShown();
  const { returnTo, error, notice, clientName, providers, withPassword, offersNewPassword, offersSignUp } =
    props;
  return (
    <>
      <h1>{t('Log in')}</h1>
      {clientName && (
        <p class="lead">
          <Say
            it="to continue to <name>{clientName}</name>"
            with={{ clientName: shown(clientName), name: (children) => <bdi class="name">{children}</bdi> }}
          />
        </p>
      )}
      {error && (
        <p class="notice notice-error" role="alert" id="login-error">
          {shown(error)}
        </p>
      )}
      {notice && <ErrorNotice>{shown(notice)}</ErrorNotice>}
      {withPassword && <PasswordForm {...props} />}
      {withPassword && offersNewPassword && (
        <p>
          <a href={withReturnTo('/password/forgotten', returnTo)}>{t('Forgot your password?')}</a>
        </p>
      )}
      <PasskeySection summary={t('Use a passkey instead')} returnTo={returnTo}>
        {t('Log in with a passkey')}
      </PasskeySection>
      {withPassword && providers.length > 0 && <p class="or">{t('or')}</p>}
      {providers.length > 0 && <ProviderButtons providers={providers} returnTo={returnTo} />}
      {offersSignUp && (
        <p>
          <a href={withReturnTo('/sign-up', returnTo)}>{t('Create an account')}</a>
        </p>
      )}
    </>
  );
}

function PasswordForm({ returnTo, email, error }: SignInPageProps): VNode {
  const t = useText();
  const invalid = error ? ({ 'aria-invalid': 'true', 'aria-describedby': 'login-error' } as const) : {};
  return (
    <PostForm action="/login" hidden={{ return_to: returnTo }}>
      <label for="email">{t('Email')}</label>
      {/* Not type="email": browsers reject addresses with an umlaut, or rewrite their domain. */}
      <input
        id="email"
        name="email"
        type="text"
        inputMode="email"
        autoCapitalize="none"
        spellcheck={false}
        autocomplete="username webauthn"
        required
        value={email}
        {...invalid}
      />
      <label for="password">{t('Password')}</label>
      <input
        id="password"
        name="password"
        type="password"
        autocomplete="current-password"
        required
        {...invalid}
      />
      <div class="actions">
        <button type="submit">{t('Log in')}</button>
      </div>
    </PostForm>
  );
}
