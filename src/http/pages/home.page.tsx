import { CsrfField } from './csrf-field.js';
import { Layout, renderPage, SignedInAs } from './layout.js';

export interface HomePageProps {
  signedInAs?: { name: string; email: string };
  /** Whether the logged-in user may open the console. */
  isOperator?: boolean;
  csrfToken: string;
}

/** The start page: what this service is, and who is logged in. */
export function homePage({ signedInAs, isOperator, csrfToken }: HomePageProps): string {
  return renderPage(
    <Layout title="Home" width="wide">
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
            <a class="button-link" href="/account">
              Go to your account
            </a>
            {isOperator && (
              <a class="button-link" href="/admin/console">
                Open the console
              </a>
            )}
          </div>
          <form method="post" action="/logout">
            <CsrfField token={csrfToken} />
            <div class="actions">
              <button type="submit" class="quiet">
                Log out
              </button>
            </div>
          </form>
        </>
      ) : (
        <p class="actions">
          <a class="button-link" href="/login">
            Log in
          </a>
        </p>
      )}
    </Layout>,
  );
}
