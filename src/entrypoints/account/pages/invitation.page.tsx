import type { ComponentChildren, VNode } from 'preact';
import { say } from '#platform/language/text.js';
import type { FieldErrors } from '#platform/web/forms/field.js';
import { NewPasswordFields } from '#platform/web/forms/new-password-fields.js';
import { PageForm, PostForm } from '#platform/web/forms/form.js';
import { LogoutButton, SignedInAs, type LayoutProps } from '#platform/web/layout/layout.js';
import { Say, useText } from '#platform/web/layout/say.js';

export interface InvitationPageProps {
  /** Without an organisation, the invitation is to become an operator. */
  invitation: { organisationId: string | null; inviterName: string; email: string; role: string };
  user: { name: string; email: string };
  /** Path to post to. */
  action: string;
  /** Why it cannot be accepted. */
  problem?: 'another address' | 'not verified';
  /** Whether a new password must be set. */
  setsPassword?: boolean;
  errors?: FieldErrors;
}

/** An invitation for the logged-in user, with the button to accept it. */
export const invitationPage = (props: InvitationPageProps): LayoutProps => ({
  title: say('Invitation'),
  isTranslated: true,
  children: <Invitation {...props} />,
});

function Invitation(props: InvitationPageProps): VNode {
  const t = useText();
  const { invitation, user, action, problem, setsPassword, errors } = props;
  const { organisationId, inviterName: organisationName, email, role } = invitation;
  const name = (children: ComponentChildren) => <bdi class="name">{children}</bdi>;
  return (
    <>
      <h1>{organisationId === null ? t('Become an operator') : t('Join an organisation')}</h1>
      <p>
        {organisationId === null ? (
          <Say
            it="<name>{organisationName}</name> invites you to its console, with the role {role}."
            with={{ organisationName, role, name }}
          />
        ) : (
          <Say
            it="<name>{organisationName}</name> invites you to its webhook portal, with the role {role}."
            with={{ organisationName, role, name }}
          />
        )}
      </p>
      {problem === 'another address' && (
        <p class="notice notice-error">
          <Say
            it="The invitation was sent to <address>{email}</address>, but you are logged in with another address. Log out, and open the link again."
            with={{ email, address: (children) => <bdi>{children}</bdi> }}
          />
        </p>
      )}
      {problem === 'not verified' && (
        <p class="notice notice-error">
          <Say
            it="Your address is not confirmed yet. <confirm>Confirm it</confirm>, and open the link again."
            with={{ confirm: (children) => <a href="/account/email">{children}</a> }}
          />
        </p>
      )}
      {problem === undefined && organisationId === null && (
        <p>
          {t(
            'For safety, everything that opens your account now stops working: password, passkeys, authenticator app and links to other services. You are logged out everywhere.',
          )}
        </p>
      )}
      {problem === undefined && setsPassword && (
        <PageForm
          action={action}
          errors={errors}
          alert={say('Nothing was changed. See the errors below.')}
          submit={t('Accept invitation')}
          noValidate
        >
          <NewPasswordFields label={t('New password')} repeated={t('Repeat new password')} />
        </PageForm>
      )}
      {problem === undefined && !setsPassword && (
        <PostForm action={action}>
          <div class="actions">
            <button type="submit">{t('Accept invitation')}</button>
          </div>
        </PostForm>
      )}
      <section class="account-identity" aria-label={t('Logged in user')}>
        <SignedInAs name={user.name} email={user.email} />
        <LogoutButton />
      </section>
    </>
  );
}
