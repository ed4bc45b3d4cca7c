import type { LayoutProps } from '#platform/web/layout/layout.js';
import { LinkButton } from '#platform/web/forms/form.js';
import { PORTAL_FOOTER, PORTAL_SIGN_IN_PATH } from '../frame/portal-layout.js';

/** The page with status 401 for requests without a portal session. */
export const portalSignedOutPage = (): LayoutProps => ({
  title: 'Not logged in to the webhook portal',
  footer: PORTAL_FOOTER,
  children: (
    <>
      <h1>You are not logged in to the webhook portal</h1>
      <p>You have logged out, your session has expired, or you opened this page without a link.</p>
      <h2>How to open the portal</h2>
      <p>
        Open the portal from your program. The program calls <code class="endpoint">GET /webhook_portal</code>{' '}
        to get a link, and that link logs you in.
      </p>
      <p>If you are a member of the organisation that the client belongs to, log in with your own account.</p>
      <p class="actions">
        <LinkButton href={PORTAL_SIGN_IN_PATH}>Log in as a member</LinkButton>
      </p>
    </>
  ),
});
