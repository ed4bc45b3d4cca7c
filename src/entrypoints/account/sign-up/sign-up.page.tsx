import type { ComponentChildren, VNode } from 'preact';
import { say } from '#platform/language/text.js';
import { TextField, type FieldErrors } from '#platform/web/forms/field.js';
import { NewPasswordFields } from '#platform/web/forms/new-password-fields.js';
import { PageForm } from '#platform/web/forms/form.js';
import { PASSKEY_SCRIPT, PasskeyInstead } from '#platform/web/forms/passkey-button.js';
import type { LayoutProps } from '#platform/web/layout/layout.js';
import { Say, useText } from '#platform/web/layout/say.js';

export interface SignUpPageProps {
  /** Path to post to. */
  action: string;
  /** The address that the link was mailed to; shown only, never posted. */
  email: string;
  name?: string;
  errors?: FieldErrors;
  /** Who invited the person: an organisation, or the company, for an operator with this role. */
  invitedBy?: { name: string; asOperator?: string };
  /** Where our script gets the options for a passkey; without it, none is offered. */
  passkeyOptions?: string;
}

const FORM_ID = 'sign-up';

/**
 * The form that creates an account. It posts `name`, `password` and `password_again`; our script posts `response` instead of the
 * passwords.
 */
export const signUpPage = (props: SignUpPageProps): LayoutProps => ({
  title: say('Create your account'),
  scripts: props.passkeyOptions === undefined ? [] : [PASSKEY_SCRIPT],
  isTranslated: true,
  children: <SignUp {...props} />,
});

function InvitedBy({ name: invitedBy, asOperator: role }: { name: string; asOperator?: string }): VNode {
  const name = (children: ComponentChildren) => <bdi class="name">{children}</bdi>;
  return role === undefined ? (
    <Say
      it="<name>{invitedBy}</name> invites you to its webhook portal. You need an account for it."
      with={{ invitedBy, name }}
    />
  ) : (
    <Say
      it="<name>{invitedBy}</name> invites you to its console, with the role {role}. You need an account for it."
      with={{ invitedBy, role, name }}
    />
  );
}

function SignUp({ action, email, name, errors = {}, invitedBy, passkeyOptions }: SignUpPageProps): VNode {
  const t = useText();
  return (
    <>
      <h1>{t('Create your account')}</h1>
      {invitedBy !== undefined && (
        <p>
          <InvitedBy {...invitedBy} />
        </p>
      )}
      <PageForm
        action={action}
        id={FORM_ID}
        hidden={passkeyOptions === undefined ? undefined : { response: '' }}
        values={{ name }}
        errors={errors}
        alert={say('Your account was not created. See the errors below.')}
        submit={t('Create account')}
        noValidate
      >
        <label for="email">{t('Email')}</label>
        {/* Shown as a field so that password managers store the new password under this address. */}
        <input id="email" type="text" autocomplete="username" readOnly value={email} />
        <TextField name="name" label={t('Name')} autocomplete="name" required />
        <NewPasswordFields label={t('Password')} repeated={t('Repeat password')} />
      </PageForm>
      {passkeyOptions !== undefined && (
        <PasskeyInstead form={FORM_ID} options={passkeyOptions} without={t('Choose a password.')} />
      )}
    </>
  );
}
