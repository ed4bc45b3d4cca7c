import type { VNode } from 'preact';
import { CsrfField } from '../../../http/pages/csrf-field.js';
import { Layout, renderPage, SignedInAs } from '../../../http/pages/layout.js';

export interface LoginPageProps {
  csrfToken: string;
  /** Where to go after login; posted back unchanged. */
  returnTo?: string;
  /** Fills in the email field again after a failed attempt. */
  email?: string;
  error?: string;
  /** The application that sent the user here, if one did. */
  clientName?: string;
  signedInAs?: { name: string; email: string };
}

/** The login form; for a user who is already logged in and has nowhere to return to, shows who is logged in. */
export function loginPage(props: LoginPageProps): string {
  const { csrfToken, returnTo, signedInAs } = props;
  if (signedInAs && !returnTo) {
    return renderPage(
      <Layout title="Logged in">
        <h1>You are logged in</h1>
        <SignedInAs {...signedInAs} />
        <p class="actions">
          <a class="button-link" href="/account">
            Go to your account
          </a>
        </p>
        <form method="post" action="/logout">
          <CsrfField token={csrfToken} />
          <div class="actions">
            <button type="submit" class="quiet">
              Log out
            </button>
          </div>
        </form>
      </Layout>,
    );
  }
  return renderPage(
    <Layout title="Log in">
      <LoginForm {...props} />
    </Layout>,
  );
}

function LoginForm({ csrfToken, returnTo, email, error, clientName }: LoginPageProps): VNode {
  const invalid = error ? ({ 'aria-invalid': 'true', 'aria-describedby': 'login-error' } as const) : {};
  return (
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
      <form method="post" action="/login">
        <CsrfField token={csrfToken} />
        {returnTo && <input type="hidden" name="return_to" value={returnTo} />}
        <label for="email">Email</label>
        {/* Not type="email": browsers reject addresses with an umlaut, or rewrite their domain. */}
        <input
          id="email"
          name="email"
          type="text"
          inputMode="email"
          autoCapitalize="none"
          spellcheck={false}
          autocomplete="username"
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
      </form>
    </>
  );
}
