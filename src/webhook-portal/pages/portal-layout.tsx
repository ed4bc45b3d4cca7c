import type { ComponentChildren } from 'preact';
import { PostButton } from '../../web/forms/form.js';
import { InitialTile, type LayoutProps } from '../../web/layout/layout.js';
import { LIVE_LIST_SCRIPT } from '../../web/tables/live-list.js';
import { Moment } from '../../web/tables/moment.js';
import { Navigation } from '../../web/layout/navigation.js';
import { DoneNotice } from '../../web/layout/notices.js';
import type { PortalOwner } from '../portal-owner.js';

/** The footer of every portal page, including those shown before the login. */
export const PORTAL_FOOTER = 'webhook portal';

const PARTS = [
  { part: 'endpoints', href: '/portal', label: 'Endpoints' },
  { part: 'deliveries', href: '/portal/deliveries', label: 'Deliveries' },
  { part: 'contacts', href: '/portal/contacts', label: 'Contacts' },
  { part: 'catalogue', href: '/portal/event_types', label: 'Event catalogue' },
  { part: 'verify', href: '/portal/verify', label: 'Verify signatures' },
] as const;

/** One page of the portal. */
export interface PortalPage {
  title: string;
  /** The heading, if it differs from the title. */
  heading?: ComponentChildren;
  part: (typeof PARTS)[number]['part'];
  /** Link to the parent page. */
  above?: { href: string; label: string };
  refreshAfter?: number;
  /** Whether a list on it takes in what is new. */
  isLive?: boolean;
  children: ComponentChildren;
}

/** The portal's owner, the navigation, and the page itself. */
export const portalLayout = (
  { title, heading, part, above, refreshAfter, isLive, children }: PortalPage,
  { clientId, clientName, ownerName, expiresAt }: PortalOwner,
  notice: string | undefined,
): LayoutProps => ({
  title: `${title} · Webhook portal`,
  width: 'broad',
  scripts: ['/assets/page.js', '/assets/portal.js', ...(isLive ? [LIVE_LIST_SCRIPT] : [])],
  refreshAfter,
  footer: PORTAL_FOOTER,
  children: (
    <>
      <section class="portal-bar" aria-label="Portal owner">
        <InitialTile name={clientName} kind="application" />
        <p class="identity-text">
          <bdi class="identity-name">{clientName}</bdi>{' '}
          <span class="portal-owner">
            Webhook portal, <bdi>{ownerName}</bdi>
          </span>
        </p>
        <PostButton action="/portal/logout" look="quiet">
          Log out
        </PostButton>
      </section>
      <Navigation class="area-nav" label="Webhook portal" links={PARTS} current={part} />
      {above && (
        <p class="above">
          <a href={above.href}>← {above.label}</a>
        </p>
      )}
      <h1>{heading ?? title}</h1>
      {/* The notice disappears when the page reloads itself. */}
      <div data-live>
        <DoneNotice notice={notice} />
      </div>
      {children}
      <p class="fine-print portal-end">
        Client ID <code>{clientId}</code>. This session expires on <Moment at={expiresAt} />.
      </p>
    </>
  ),
});
