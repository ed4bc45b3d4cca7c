import type { VNode } from 'preact';
import { TextField } from '../../web/forms/field.js';
import { PageForm } from '../../web/forms/form.js';
import { PASSKEY_SCRIPT, PasskeyButton } from '../../web/forms/passkey-button.js';
import { CONFIRM_PATH, SECURITY_PATH } from '../../users/factors/factor-paths.js';
import type { AccountPage } from './account-layout.js';

export interface ConfirmPageProps {
  returnTo: string;
  hasPasskeys: boolean;
  /** Where the user authenticates instead of entering the password: at the provider with this label, if there is one. */
  place: { label: string | undefined } | undefined;
  error?: string;
}

/** Asks to log in again: with the password, a passkey, or at the provider. It posts `password` and `return_to`. */
export const confirmPage = ({ returnTo, hasPasskeys, place, error }: ConfirmPageProps): AccountPage => ({
  title: 'Confirm that it is you',
  part: 'security',
  scripts: hasPasskeys ? [PASSKEY_SCRIPT] : [],
  children: (
    <>
      <p>
        You are about to change how your account is protected, to take your data along, to delete your
        account, to open the console, or to change something in the partner portal. <HowTo place={place} />{' '}
        Nothing is changed yet.
      </p>
      {hasPasskeys && <PasskeyButton returnTo={returnTo}>Use a passkey</PasskeyButton>}
      {(!place || place.label) && (
        <PageForm
          action={CONFIRM_PATH}
          class="narrow-form"
          hidden={{ return_to: returnTo }}
          errors={error === undefined ? undefined : { [place ? 'form' : 'password']: error }}
          alert="Nothing was changed. See the error below."
          submit={place ? `Continue with ${place.label}` : 'Continue'}
          cancel={SECURITY_PATH}
        >
          {!place && (
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
      )}
    </>
  ),
});

function HowTo({ place }: Pick<ConfirmPageProps, 'place'>): VNode {
  if (!place) return <>Enter your password again to continue.</>;
  if (!place.label) return <>Use a passkey if you have one here, or log out and log in again.</>;
  return (
    <>
      Log in at <bdi>{place.label}</bdi> again to continue.
    </>
  );
}
