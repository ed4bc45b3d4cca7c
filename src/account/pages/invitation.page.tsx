import { PostForm } from '../../web/forms/form.js';
import { LogoutButton, SignedInAs, type LayoutProps } from '../../web/layout/layout.js';

export interface InvitationPageProps {
  invitation: { organisationName: string; email: string; role: string };
  user: { name: string; email: string };
  /** Path to post to. */
  action: string;
  /** Why it cannot be accepted. */
  problem?: 'another address' | 'not verified';
}

/** An invitation for the logged-in user, with the button to accept it. */
export const invitationPage = ({ invitation, user, action, problem }: InvitationPageProps): LayoutProps => ({
  title: 'Invitation',
  children: (
    <>
      <h1>Join an organisation</h1>
      <p>
        <bdi class="name">{invitation.organisationName}</bdi> invites you to its partner portal, with the role{' '}
        {invitation.role}.
      </p>
      {problem === 'another address' && (
        <p class="notice notice-error">
          The invitation was sent to <bdi>{invitation.email}</bdi>, but you are logged in with another
          address. Log out, and open the link again.
        </p>
      )}
      {problem === 'not verified' && (
        <p class="notice notice-error">
          Your address is not confirmed yet. <a href="/account/email">Confirm it</a>, and open the link again.
        </p>
      )}
      {problem === undefined && (
        <PostForm action={action}>
          <div class="actions">
            <button type="submit">Accept invitation</button>
          </div>
        </PostForm>
      )}
      <section class="account-identity" aria-label="Logged in user">
        <SignedInAs name={user.name} email={user.email} />
        <LogoutButton />
      </section>
    </>
  ),
});
