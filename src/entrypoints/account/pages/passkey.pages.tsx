import type { VNode } from 'preact';
import { say } from '#platform/language/text.js';
import type { PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/server';
import type { PasskeyEntity } from '#access/users/factors/passkey.entity.js';
import { SECURITY_PATH } from '#access/users/factors/factor-paths.js';
import { Confirmation } from '#platform/web/forms/confirmation.js';
import { TextField, type FieldErrors } from '#platform/web/forms/field.js';
import { LinkButton, PageForm } from '#platform/web/forms/form.js';
import { PASSKEY_SCRIPT, WithoutPasskeys } from '#platform/web/forms/passkey-button.js';
import { Say, useText } from '#platform/web/layout/say.js';
import type { AccountPage } from './account-layout.js';

export interface NewPasskeyPageProps {
  options: PublicKeyCredentialCreationOptionsJSON;
  name: string;
  errors?: FieldErrors;
}

/** Adds a passkey: our script fills in `response`, and posts it with `name`. */
export const newPasskeyPage = (props: NewPasskeyPageProps): AccountPage => ({
  title: say('Add a passkey'),
  part: 'security',
  scripts: [PASSKEY_SCRIPT],
  children: <NewPasskey {...props} />,
});

function NewPasskey({ options, name, errors }: NewPasskeyPageProps): VNode {
  const t = useText();
  return (
    <>
      <p>
        {t(
          'Your browser asks you to confirm with your fingerprint, your face, a PIN or a security key. Then you can log in that way, without your password.',
        )}
      </p>
      <WithoutPasskeys>{t('Set up an authenticator app instead.')}</WithoutPasskeys>
      <PageForm
        action={`${SECURITY_PATH}/passkeys/new`}
        class="narrow-form"
        hidden={{ response: '' }}
        passkeyCreation={options}
        values={{ name }}
        errors={errors}
        alert={t('The passkey was not added. See the errors below.')}
        submit={t('Continue')}
        cancel={SECURITY_PATH}
      >
        <p class="notice notice-error" role="alert" hidden />
        <TextField
          name="name"
          label={t('Name')}
          hint={t('So that you recognize it in the list later.')}
          required
        />
      </PageForm>
    </>
  );
}

export interface PasskeyPageProps {
  passkey: PasskeyEntity;
  /** What was typed, and what is wrong with it. */
  name?: string;
  error?: string;
}

/** The form to rename a passkey. */
export const passkeyPage = (props: PasskeyPageProps): AccountPage => ({
  title: say('Rename passkey'),
  part: 'security',
  children: <Passkey {...props} />,
});

function Passkey({ passkey, name = passkey.name, error }: PasskeyPageProps): VNode {
  const t = useText();
  return (
    <>
      <PageForm
        action={`${SECURITY_PATH}/passkeys/${passkey.id}`}
        class="narrow-form"
        values={{ name }}
        errors={error === undefined ? undefined : { name: error }}
        alert={t('The passkey was not renamed. See the error below.')}
        submit={t('Rename')}
        cancel={SECURITY_PATH}
      >
        <TextField name="name" label={t('Name')} required />
      </PageForm>
      <p>
        <LinkButton look="quiet" href={`${SECURITY_PATH}/passkeys/${passkey.id}/remove`}>
          {t('Remove this passkey')}
        </LinkButton>
      </p>
    </>
  );
}

/** Explains the consequences before a passkey is removed. */
export const removePasskeyPage = (passkey: PasskeyEntity): AccountPage => ({
  title: say('Remove passkey'),
  part: 'security',
  children: <RemovePasskey passkey={passkey} />,
});

function RemovePasskey({ passkey }: { passkey: PasskeyEntity }): VNode {
  const t = useText();
  return (
    <Confirmation
      question={<Say it="Remove {name}?" with={{ name: <bdi class="name">{passkey.name}</bdi> }} />}
      consequences={[
        t('You can no longer log in with it. Delete it on your device as well.'),
        t('You stay logged in here.'),
      ]}
      action={`${SECURITY_PATH}/passkeys/${passkey.id}/remove`}
      submit={t('Remove')}
      isDanger
      cancel={SECURITY_PATH}
      keep={t('Keep it')}
    />
  );
}
