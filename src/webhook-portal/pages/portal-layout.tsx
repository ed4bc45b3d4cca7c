import type { ComponentChildren, VNode } from 'preact';
import { CsrfField } from '../../http/pages/csrf-field.js';
import { InitialTile, Layout, renderPage } from '../../http/pages/layout.js';
import { Moment } from '../../http/pages/moment.js';
import { DoneNotice } from '../../http/pages/notices.js';
import { Navigation } from '../../http/pages/navigation.js';

/** The footer of every portal page, including those shown before the login. */
export const PORTAL_FOOTER = 'webhook portal';

/** The data of the layout around every portal page. */
export interface PortalLayoutProps {
  owner: { clientId: string; clientName: string; ownerName: string; expiresAt: Date };
  logoutToken: string;
  /** The message about what was just done. */
  notice?: string;
}

const PARTS = [
  { part: 'endpoints', href: '/portal', label: 'Endpoints' },
  { part: 'deliveries', href: '/portal/deliveries', label: 'Deliveries' },
  { part: 'catalogue', href: '/portal/event_types', label: 'Event catalogue' },
  { part: 'verify', href: '/portal/verify', label: 'Verify signatures' },
] as const;

export interface PortalPageProps {
  layoutProps: PortalLayoutProps;
  title: string;
  /** The heading, if it differs from the title. */
  heading?: ComponentChildren;
  part: (typeof PARTS)[number]['part'];
  /** Link to the parent page. */
  above?: { href: string; label: string };
  refreshAfter?: number;
  children: ComponentChildren;
}

/** One page of the portal: its owner, the navigation, and the page itself. */
export function renderPortalPage(props: PortalPageProps): string {
  const { layoutProps, title, heading, part, above, refreshAfter, children } = props;
  return renderPage(
    <Layout
      title={`${title} · Webhook portal`}
      width="broad"
      styleSheet="/assets/portal.css"
      scripts={['/assets/page.js', '/assets/portal.js']}
      refreshAfter={refreshAfter}
      footer={PORTAL_FOOTER}
    >
      <PortalBar layoutProps={layoutProps} />
      <Navigation class="account-nav" label="Webhook portal" links={PARTS} current={part} />
      {above && (
        <p class="above">
          <a href={above.href}>← {above.label}</a>
        </p>
      )}
      <h1>{heading ?? title}</h1>
      {/* The notice disappears when the page reloads itself. */}
      <div data-live>
        <DoneNotice notice={layoutProps.notice} />
      </div>
      {children}
      <p class="fine-print portal-end">
        Client ID <code>{layoutProps.owner.clientId}</code>. This session expires on{' '}
        <Moment at={layoutProps.owner.expiresAt} />.
      </p>
    </Layout>,
  );
}

function PortalBar({ layoutProps: { owner, logoutToken } }: { layoutProps: PortalLayoutProps }): VNode {
  return (
    <section class="portal-bar" aria-label="Portal owner">
      <InitialTile name={owner.clientName} kind="application" />
      <p class="identity-text">
        <bdi class="identity-name">{owner.clientName}</bdi>{' '}
        <span class="portal-owner">
          Webhook portal, <bdi>{owner.ownerName}</bdi>
        </span>
      </p>
      <form method="post" action="/portal/logout">
        <CsrfField token={logoutToken} />
        <button type="submit" class="quiet">
          Log out
        </button>
      </form>
    </section>
  );
}
