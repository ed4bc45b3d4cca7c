import { TextField } from '../../web/forms/field.js';
import { PageForm } from '../../web/forms/form.js';
import { PASSKEY_SCRIPT, PasskeyButton } from '../../web/forms/passkey-button.js';
import { CONFIRM_PATH, SECURITY_PATH } from '../../users/factors/factor-paths.js';
import type { AccountPage } from './account-layout.js';

export interface ConfirmPageProps {
  returnTo: string;
  hasPasskeys: boolean;
  error?: string;
}

/** Asks for the password or a passkey again. It posts `password` and `return_to`. */
export const confirmPage = ({ returnTo, hasPasskeys, error }: ConfirmPageProps): AccountPage => ({
  title: 'Confirm that it is you',
  part: 'security',
  scripts: hasPasskeys ? [PASSKEY_SCRIPT] : [],
  children: (
    <>
      <p>
        You are about to change how your account is protected. Enter your password again to continue. Nothing
        is changed yet. If you have no password, log out and log in again.
      </p>
      {hasPasskeys && <PasskeyButton returnTo={returnTo}>Use a passkey</PasskeyButton>}
      <PageForm
        action={CONFIRM_PATH}
        class="narrow-form"
        hidden={{ return_to: returnTo }}
        errors={error === undefined ? undefined : { password: error }}
        alert="Nothing was changed. See the error below."
        submit="Continue"
        cancel={SECURITY_PATH}
      >
        <TextField
          name="password"
          label="Password"
          type="password"
          autocomplete="current-password"
          required
        />
      </PageForm>
    </>
  ),
});
