import type { VNode } from 'preact';
import { TextField } from '#platform/web/forms/field.js';
import { PASSKEY_SCRIPT, PasskeyButton } from '#platform/web/forms/passkey-button.js';
import { CONFIRM_PASSWORD_PATH } from '../password-rule.js';
import { ConsoleForm } from './console-form.js';
import type { ConsolePage } from './console-layout.js';

export interface ConfirmPasswordPageProps {
  /** A path of the console. */
  returnTo: string;
  hasPasskeys: boolean;
  error?: string;
}

/**
 * Asks an operator to authenticate again at the provider with this label, or with a passkey; without either, to log in anew. It posts
 * `return_to`.
 */
export function confirmAtProviderPage({
  returnTo,
  hasPasskeys,
  label,
  error,
}: ConfirmPasswordPageProps & { label: string | undefined }): ConsolePage {
  return {
    part: 'overview',
    title: 'Confirm that it is you',
    scripts: hasPasskeys ? [PASSKEY_SCRIPT] : [],
    children: (
      <>
        <p>
          This action grants power, creates a secret or cannot be undone, and you last proved who you are more
          than 15 minutes ago. {label ? <AtProvider label={label} /> : WITHOUT_PROVIDER} Nothing happens yet:
          you return to the page that describes the action.
        </p>
        {hasPasskeys && (
          <PasskeyButton returnTo={returnTo} isQuiet={label !== undefined}>
            Use a passkey
          </PasskeyButton>
        )}
        {label && (
          <ConsoleForm
            errors={error === undefined ? undefined : { form: [error] }}
            action={CONFIRM_PASSWORD_PATH}
            submit={`Continue with ${label}`}
            cancel="/admin/console"
            hidden={{ return_to: returnTo }}
          />
        )}
      </>
    ),
  };
}

const WITHOUT_PROVIDER = 'Use a passkey if you have one here, or log out and log in again.';

const AtProvider = ({ label }: { label: string }): VNode => (
  <>
    Log in at <bdi>{label}</bdi> again to continue.
  </>
);

/** Asks an operator for the password or a passkey again. It posts `password` and `return_to`. */
export function confirmPasswordPage({ returnTo, hasPasskeys, error }: ConfirmPasswordPageProps): ConsolePage {
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
        {hasPasskeys && (
          <PasskeyButton returnTo={returnTo} isQuiet>
            Use a passkey
          </PasskeyButton>
        )}
        <ConsoleForm
          errors={errors}
          action={CONFIRM_PASSWORD_PATH}
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
