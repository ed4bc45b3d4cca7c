import { Layout, renderPage } from '../../http/pages/layout.js';

/** Shown with status 401 to whoever comes to the portal without a portal session. */
export function portalSignedOutPage(): string {
  return renderPage(
    <Layout title="Not signed in to the webhook portal">
      <h1>You are not signed in to the webhook portal</h1>
      <p>Either you have logged out, your session has ended, or you came here without a link.</p>
      <h2>How to get in</h2>
      <p>
        Open the portal from your application. The application asks{' '}
        <code class="endpoint">GET /webhook_portal</code> for a link, and that link brings you in.
      </p>
    </Layout>,
  );
}
