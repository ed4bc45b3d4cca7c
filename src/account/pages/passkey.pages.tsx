import type { PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/server';
import type { PasskeyEntity } from '../../users/factors/passkey.entity.js';
import { SECURITY_PATH } from '../../users/factors/factor-paths.js';
import { Confirmation } from '../../web/forms/confirmation.js';
import { TextField, type FieldErrors } from '../../web/forms/field.js';
import { LinkButton, PageForm } from '../../web/forms/form.js';
import { PASSKEY_SCRIPT, WithoutPasskeys } from '../../web/forms/passkey-button.js';
import type { AccountPage } from './account-layout.js';

export interface NewPasskeyPageProps {
  options: PublicKeyCredentialCreationOptionsJSON;
  name: string;
  errors?: FieldErrors;
}

/** Adds a passkey: our script fills in `response`, and posts it with `name`. */
export const newPasskeyPage = ({ options, name, errors }: NewPasskeyPageProps): AccountPage => ({
  title: 'Add a passkey',
  part: 'security',
  scripts: [PASSKEY_SCRIPT],
  children: (
    <>
      <p>
        Your browser asks you to confirm with your fingerprint, your face, a PIN or a security key. Then you
        can log in that way, without your password.
      </p>
      <WithoutPasskeys>Set up an authenticator app instead.</WithoutPasskeys>
      <PageForm
        action={`${SECURITY_PATH}/passkeys/new`}
        class="narrow-form"
        hidden={{ response: '' }}
        passkeyCreation={options}
        values={{ name }}
        errors={errors}
        alert="The passkey was not added. See the errors below."
        submit="Continue"
        cancel={SECURITY_PATH}
      >
        <p class="notice notice-error" role="alert" hidden />
        <TextField name="name" label="Name" hint="So that you recognize it in the list later." required />
      </PageForm>
    </>
  ),
});

export interface PasskeyPageProps {
  passkey: PasskeyEntity;
  /** What was typed, and what is wrong with it. */
  name?: string;
  error?: string;
}

/** The form to rename a passkey. */
export const passkeyPage = ({ passkey, name = passkey.name, error }: PasskeyPageProps): AccountPage => ({
  title: 'Rename passkey',
  part: 'security',
  children: (
    <>
      <PageForm
        action={`${SECURITY_PATH}/passkeys/${passkey.id}`}
        class="narrow-form"
        values={{ name }}
        errors={error === undefined ? undefined : { name: error }}
        alert="The passkey was not renamed. See the error below."
        submit="Rename"
        cancel={SECURITY_PATH}
      >
        <TextField name="name" label="Name" required />
      </PageForm>
      <p>
        <LinkButton look="quiet" href={`${SECURITY_PATH}/passkeys/${passkey.id}/remove`}>
          Remove this passkey
        </LinkButton>
      </p>
    </>
  ),
});

/** Says what removing a passkey means, before it happens. */
export const removePasskeyPage = (passkey: PasskeyEntity): AccountPage => ({
  title: 'Remove passkey',
  part: 'security',
  children: (
    <Confirmation
      question={
        <>
          Remove <bdi class="name">{passkey.name}</bdi>?
        </>
      }
      consequences={[
        'You can no longer log in with it. Delete it on your device as well.',
        'You stay logged in here.',
      ]}
      action={`${SECURITY_PATH}/passkeys/${passkey.id}/remove`}
      submit="Remove"
      isDanger
      cancel={SECURITY_PATH}
      keep="Keep it"
    />
  ),
});
