import type { VNode } from 'preact';
import { say } from '../../language/text.js';
import { PostForm } from '../../web/forms/form.js';
import { LogoutButton, SignedInAs, type LayoutProps } from '../../web/layout/layout.js';
import { Say, useText } from '../../web/layout/say.js';

export interface InvitationPageProps {
  invitation: { organisationName: string; email: string; role: string };
  user: { name: string; email: string };
  /** Path to post to. */
  action: string;
  /** Why it cannot be accepted. */
  problem?: 'another address' | 'not verified';
}

/** An invitation for the logged-in user, with the button to accept it. */
export const invitationPage = (props: InvitationPageProps): LayoutProps => ({
  title: say('Invitation'),
  isTranslated: true,
  children: <Invitation {...props} />,
});

function Invitation({ invitation, user, action, problem }: InvitationPageProps): VNode {
  const t = useText();
  const { organisationName, email, role } = invitation;
  return (
    <>
      <h1>{t('Join an organisation')}</h1>
      <p>
        <Say
          it="<name>{organisationName}</name> invites you to its partner portal, with the role {role}."
          with={{ organisationName, role, name: (children) => <bdi class="name">{children}</bdi> }}
        />
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
      {problem === undefined && (
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
