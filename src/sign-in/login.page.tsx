import type { VNode } from 'preact';
import { withReturnTo } from '../http/forms/return-to.js';
import { ProviderButtons, type ProviderName } from '../identity-providers/pages/provider-buttons.js';
import { PostForm } from '../web/forms/form.js';
import { PASSKEY_SCRIPT, PasskeySection } from '../web/forms/passkey-button.js';
import type { LayoutProps } from '../web/layout/layout.js';

export interface LoginPageProps {
  /** Where to go after login; posted back unchanged. */
  returnTo?: string;
  /** Fills in the email field again after a failed attempt. */
  email?: string;
  error?: string;
  /** The application that sent the user here, if one did. */
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

export function loginPage(props: LoginPageProps): LayoutProps {
  const { returnTo, error, clientName, providers, withPassword, offersNewPassword, offersSignUp } = props;
  return {
    title: 'Log in',
    scripts: [PASSKEY_SCRIPT],
    children: (
      <>
        <h1>Log in</h1>
        {clientName && (
          <p class="lead">
            to continue to <bdi class="name">{clientName}</bdi>
          </p>
        )}
        {error && (
          <p class="notice notice-error" role="alert" id="login-error">
            {error}
          </p>
        )}
        {withPassword && <PasswordForm {...props} />}
        {withPassword && offersNewPassword && (
          <p>
            <a href={withReturnTo('/password/forgotten', returnTo)}>Forgot your password?</a>
          </p>
        )}
        <PasskeySection summary="Use a passkey instead" returnTo={returnTo}>
          Log in with a passkey
        </PasskeySection>
        {withPassword && providers.length > 0 && <p class="or">or</p>}
        {providers.length > 0 && <ProviderButtons providers={providers} returnTo={returnTo} />}
        {offersSignUp && (
          <p>
            <a href={withReturnTo('/sign-up', returnTo)}>Create an account</a>
          </p>
        )}
      </>
    ),
  };
}

function PasswordForm({ returnTo, email, error }: LoginPageProps): VNode {
  const invalid = error ? ({ 'aria-invalid': 'true', 'aria-describedby': 'login-error' } as const) : {};
  return (
    <PostForm action="/login" hidden={{ return_to: returnTo }}>
      <label for="email">Email</label>
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
      <label for="password">Password</label>
      <input
        id="password"
        name="password"
        type="password"
        autocomplete="current-password"
        required
        {...invalid}
      />
      <div class="actions">
        <button type="submit">Log in</button>
      </div>
    </PostForm>
  );
}
