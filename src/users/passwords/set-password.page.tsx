import { PostForm } from '../../web/forms/form.js';
import type { LayoutProps } from '../../web/layout/layout.js';

export interface SetPasswordPageProps {
  /** Path to post to. */
  action: string;
  /** The email of the user; shown only, never posted. */
  email: string;
  error?: string;
}

/** The form of a set-password link. It posts `password` and `password_again`. */
export function setPasswordPage({ action, email, error }: SetPasswordPageProps): LayoutProps {
  const invalid = error ? ({ 'aria-invalid': 'true' } as const) : {};
  const errorId = error ? 'password-error' : undefined;
  const rules = {
    type: 'password',
    autocomplete: 'new-password',
    minLength: 12,
    // No maxLength: browsers would silently truncate a longer password. The service reports that it is too long.
    required: true,
  } as const;
  return {
    title: 'Set password',
    children: (
      <>
        <h1>Set your password</h1>
        {error && (
          <p class="notice notice-error" role="alert" id="password-error">
            {error}
          </p>
        )}
        <PostForm action={action}>
          <label for="email">Email</label>
          {/* Shown as a field so that password managers store the new password under this address. */}
          <input id="email" type="email" autocomplete="username" readOnly value={email} />
          <label for="password">New password</label>
          <input
            id="password"
            name="password"
            aria-describedby={[errorId, 'password-hint'].filter(Boolean).join(' ')}
            {...rules}
            {...invalid}
          />
          <small class="hint" id="password-hint">
            12 to 256 characters. No other rules.
          </small>
          <label for="password-repeat">Repeat new password</label>
          <input
            id="password-repeat"
            name="password_again"
            aria-describedby={errorId}
            {...rules}
            {...invalid}
          />
          <div class="actions">
            <button type="submit">Set password</button>
          </div>
        </PostForm>
      </>
    ),
  };
}
