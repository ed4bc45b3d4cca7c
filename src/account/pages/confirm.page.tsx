import { TextField } from '../../web/forms/field.js';
import { PageForm } from '../../web/forms/form.js';
import { PASSKEY_SCRIPT, PasskeyButton } from '../../web/forms/passkey-button.js';
import { CONFIRM_PATH, SECURITY_PATH } from '../../users/factors/factor-paths.js';
import type { AccountPage } from './account-layout.js';

export interface ConfirmPageProps {
  returnTo: string;
  hasPasskeys: boolean;
  /** The label of the identity provider that the session came from. */
  provider: string | undefined;
  error?: string;
}

/** Asks to log in again: with the password, a passkey, or at the provider. It posts `password` and `return_to`. */
export const confirmPage = ({ returnTo, hasPasskeys, provider, error }: ConfirmPageProps): AccountPage => ({
  title: 'Confirm that it is you',
  part: 'security',
  scripts: hasPasskeys ? [PASSKEY_SCRIPT] : [],
  children: (
    <>
      <p>
        You are about to change how your account is protected, or to open the console.{' '}
        {provider ? (
          <>
            Log in at <bdi>{provider}</bdi> again
          </>
        ) : (
          'Enter your password again'
        )}{' '}
        to continue. Nothing is changed yet.
      </p>
      {hasPasskeys && <PasskeyButton returnTo={returnTo}>Use a passkey</PasskeyButton>}
      <PageForm
        action={CONFIRM_PATH}
        class="narrow-form"
        hidden={{ return_to: returnTo }}
        errors={error === undefined ? undefined : { [provider ? 'form' : 'password']: error }}
        alert="Nothing was changed. See the error below."
        submit={provider ? `Continue with ${provider}` : 'Continue'}
        cancel={SECURITY_PATH}
      >
        {!provider && (
          <TextField
            name="password"
            label="Password"
            type="password"
            autocomplete="current-password"
            hint="If you have none, log out and log in again."
            required
          />
        )}
      </PageForm>
    </>
  ),
});
