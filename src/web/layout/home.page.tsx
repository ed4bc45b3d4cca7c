import { LinkButton } from '../forms/form.js';
import { LogoutButton, SignedInAs, type LayoutProps } from './layout.js';

export interface HomePageProps {
  signedInAs?: { name: string; email: string };
  /** Whether the logged-in user may open the console. */
  isOperator?: boolean;
}

/** The start page: what this service is, and who is logged in. */
export const homePage = ({ signedInAs, isOperator }: HomePageProps): LayoutProps => ({
  title: 'Home',
  width: 'wide',
  children: (
    <>
      <h1>Your charging data, shared on your terms</h1>
      <p class="lead">
        Applications can ask to read the charging data of your electric vehicle. This is where you decide.
      </p>
      <ol class="steps">
        <li>
          <strong>An application sends you here.</strong> You log in with this service, not with the
          application.
        </li>
        <li>
          <strong>You see what it wants to read,</strong> item by item and in plain words.
        </li>
        <li>
          <strong>You decide.</strong> Authorize or cancel. You can disconnect an application at any time.
        </li>
      </ol>
      {signedInAs ? (
        <>
          <SignedInAs {...signedInAs} />
          <div class="actions actions-pair">
            <LinkButton href="/account">Go to your account</LinkButton>
            {isOperator && <LinkButton href="/admin/console">Open the console</LinkButton>}
          </div>
          <div class="actions">
            <LogoutButton />
          </div>
        </>
      ) : (
        <p class="actions">
          <LinkButton href="/login">Log in</LinkButton>
        </p>
      )}
    </>
  ),
});
