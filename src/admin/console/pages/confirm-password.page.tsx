import { TextField } from '../../../web/forms/field.js';
import { PASSKEY_SCRIPT, PasskeyButton } from '../../../web/forms/passkey-button.js';
import { CONFIRM_PATH } from '../require-recent-password.js';
import { ConsoleForm } from './console-form.js';
import type { ConsolePage } from './console-layout.js';

export interface ConfirmPasswordPageProps {
  /** A path of the console. */
  returnTo: string;
  error?: string;
}

/** Asks an operator who came from a provider to authenticate there again. It posts `return_to`. */
export function confirmAtProviderPage({
  returnTo,
  label,
  error,
}: ConfirmPasswordPageProps & { label: string }): ConsolePage {
  return {
    part: 'overview',
    title: 'Confirm that it is you',
    children: (
      <>
        <p>
          This action grants power, creates a secret or cannot be undone, and you last proved who you are more
          than 15 minutes ago. Log in at <bdi>{label}</bdi> again to continue. Nothing happens yet: you return
          to the page that describes the action.
        </p>
        <ConsoleForm
          errors={error === undefined ? undefined : { form: [error] }}
          action={CONFIRM_PATH}
          submit={`Continue with ${label}`}
          cancel="/admin/console"
          hidden={{ return_to: returnTo }}
        />
      </>
    ),
  };
}

/** Asks an operator for the password or a passkey again. It posts `password` and `return_to`. */
export function confirmPasswordPage({
  returnTo,
  hasPasskeys,
  error,
}: ConfirmPasswordPageProps & { hasPasskeys: boolean }): ConsolePage {
  const errors = error === undefined ? undefined : { password: [error] };
  return {
    part: 'overview',
    title: 'Confirm your password',
    scripts: hasPasskeys ? [PASSKEY_SCRIPT] : [],
    children: (
      <>
        <p>
          This action grants power, creates a secret or cannot be undone, and you last entered your password
          more than 15 minutes ago. Enter it again to continue. Nothing happens yet: you return to the page
          that describes the action.
        </p>
        {hasPasskeys && <PasskeyButton returnTo={returnTo}>Use a passkey</PasskeyButton>}
        <ConsoleForm
          errors={errors}
          action={CONFIRM_PATH}
          submit="Continue"
          cancel="/admin/console"
          hidden={{ return_to: returnTo }}
        >
          <TextField
            name="password"
            label="Password"
            type="password"
            autocomplete="current-password"
            required
          />
        </ConsoleForm>
      </>
    ),
  };
}
