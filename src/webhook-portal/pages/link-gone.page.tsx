import { Layout, renderPage } from '../../http/pages/layout.js';

/** One page for used, expired and unknown portal links alike: it does not tell which links existed. */
export function linkGonePage(): string {
  return renderPage(
    <Layout title="Link no longer works">
      <h1>This link no longer works</h1>
      <p>A link to the webhook portal works once, and only for a few minutes.</p>
      <h2>How to get a new one</h2>
      <p>
        Go back to your application and open the portal from there again. The application asks{' '}
        <code class="endpoint">GET /webhook_portal</code> for a fresh link.
      </p>
    </Layout>,
  );
}
