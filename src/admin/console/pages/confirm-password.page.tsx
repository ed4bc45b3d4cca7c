import { CONFIRM_PATH } from '../require-recent-password.js';
import type { UserLayoutProps } from '../../../users/user-page-context.js';
import { renderConsolePage } from './console-layout.js';
import { ConsoleForm, TextField } from './form-fields.js';

export interface ConfirmPasswordPageProps {
  layoutProps: UserLayoutProps;
  csrfToken: string;
  /** A path of the console. */
  returnTo: string;
  error?: string;
}

/** Asks an operator for the password again. It posts `password` and `return_to`. */
export function confirmPasswordPage({
  layoutProps,
  csrfToken,
  returnTo,
  error,
}: ConfirmPasswordPageProps): string {
  const errors = error === undefined ? undefined : { password: [error] };
  return renderConsolePage({
    layoutProps,
    part: 'overview',
    title: 'Confirm your password',
    children: (
      <>
        <p>
          This action grants power, creates a secret or cannot be undone, and you last entered your password
          more than 15 minutes ago. Enter it again to continue. Nothing happens yet: you return to the page
          that describes the action.
        </p>
        <ConsoleForm
          action={CONFIRM_PATH}
          csrfToken={csrfToken}
          errors={errors}
          submit="Continue"
          cancel={{ href: '/admin/console' }}
        >
          <input type="hidden" name="return_to" value={returnTo} />
          <TextField
            name="password"
            label="Password"
            type="password"
            autocomplete="current-password"
            required
            errors={errors}
          />
        </ConsoleForm>
      </>
    ),
  });
}
