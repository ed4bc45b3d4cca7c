import type { LayoutProps } from '#platform/web/layout/layout.js';
import { PORTAL_FOOTER } from '../frame/portal-layout.js';

/** The same page for used, expired and unknown portal links, so that it does not reveal which links existed. */
export const linkGonePage = (): LayoutProps => ({
  title: 'Link no longer works',
  footer: PORTAL_FOOTER,
  children: (
    <>
      <h1>This link no longer works</h1>
      <p>A link to the webhook portal works once, and only for a few minutes.</p>
      <h2>How to get a new one</h2>
      <p>
        Go back to your program and open the portal from there again. The program calls{' '}
        <code class="endpoint">GET /webhook_portal</code> to get a new link.
      </p>
    </>
  ),
});
