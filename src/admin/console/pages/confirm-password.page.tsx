import { CONFIRM_PATH } from '../second-look.js';
import { renderConsolePage, type ConsoleFrame } from './console-layout.js';
import { ConsoleForm, TextField } from './form-fields.js';

export interface ConfirmPasswordPageProps {
  frame: ConsoleFrame;
  csrfToken: string;
  /** A path of the console. */
  returnTo: string;
  error?: string;
}

/** Asks an operator for the password once more. It posts `password` and `return_to`. */
export function confirmPasswordPage({ frame, csrfToken, returnTo, error }: ConfirmPasswordPageProps): string {
  const errors = error === undefined ? undefined : { password: [error] };
  return renderConsolePage({
    frame,
    part: 'overview',
    title: 'Your password, please',
    children: (
      <>
        <p>
          What you are about to do cannot be undone, and you gave your password more than 15 minutes ago. Give
          it once more, to be sure that it is you.
        </p>
        <ConsoleForm
          action={CONFIRM_PATH}
          csrfToken={csrfToken}
          errors={errors}
          submit="Go on"
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
