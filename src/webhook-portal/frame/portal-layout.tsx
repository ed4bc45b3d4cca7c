import type { ComponentChildren } from 'preact';
import { PostButton } from '../../web/forms/form.js';
import { ClientTile } from '../../web/layout/client-identity.js';
import type { LayoutProps } from '../../web/layout/layout.js';
import { LIVE_LIST_SCRIPT } from '../../web/tables/live-list.js';
import { Moment } from '../../web/tables/moment.js';
import { GroupedNavigation, type NavigationGroup } from '../../web/layout/navigation.js';
import { SandboxBadge } from '../../web/layout/sandbox-badge.js';
import { DoneNotice } from '../../web/layout/notices.js';
import { Permissions, type MayUse } from '../../web/layout/may-use.js';
import type { PortalVisitor } from '../access/portal-visitor.js';
import { TIMES_SCRIPT } from '../../web/tables/moment.js';

/** Where members open portals. */
export const SIGN_IN_PATH = '/portal/sign-in';

/** The footer of every portal page, including those shown before the login. */
export const PORTAL_FOOTER = 'webhook portal';

const GROUPS = [
  {
    heading: 'Webhooks',
    links: [
      { part: 'endpoints', href: '/portal', label: 'Endpoints' },
      { part: 'deliveries', href: '/portal/deliveries', label: 'Deliveries' },
      { part: 'contacts', href: '/portal/contacts', label: 'Contacts' },
    ],
  },
  {
    heading: 'Build and test',
    links: [
      { part: 'catalogue', href: '/portal/event_types', label: 'Event catalogue' },
      { part: 'sandbox', href: '/portal/sandbox', label: 'Sandbox' },
      { part: 'verify', href: '/portal/verify', label: 'Verify signatures' },
    ],
  },
  {
    heading: 'Client',
    links: [
      { part: 'credentials', href: '/portal/credentials', label: 'Credentials' },
      { part: 'redirect-uris', href: '/portal/redirect-uris', label: 'Redirect URIs' },
      { part: 'members', href: '/portal/members', label: 'Members' },
    ],
  },
  {
    heading: 'Use of the API',
    links: [
      { part: 'requests', href: '/portal/requests', label: 'Requests' },
      { part: 'refusals', href: '/portal/refusals', label: 'Refusals' },
      { part: 'usage', href: '/portal/usage', label: 'Usage' },
    ],
  },
] as const;

const groupsFor = (environment: PortalVisitor['environment']): readonly NavigationGroup[] =>
  environment === 'sandbox'
    ? GROUPS
    : GROUPS.map(({ heading, links }) => ({
        heading,
        links: links.filter(({ part }) => part !== 'sandbox'),
      }));

/** One page of the portal. */
export interface PortalPage {
  title: string;
  /** The heading, if it differs from the title. */
  heading?: ComponentChildren;
  part: (typeof GROUPS)[number]['links'][number]['part'];
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
  { clientId, clientName, clientLogoId, environment, ownerName, expiresAt, role, user }: PortalVisitor,
  notice: string | undefined,
  mayUse: MayUse,
): LayoutProps => ({
  title: `${title} · Webhook portal`,
  width: 'broad',
  scripts: ['/assets/page.js', TIMES_SCRIPT, '/assets/portal.js', ...(isLive ? [LIVE_LIST_SCRIPT] : [])],
  refreshAfter,
  footer: PORTAL_FOOTER,
  children: (
    <Permissions.Provider value={mayUse}>
      <section class="portal-bar" aria-label="Portal owner">
        <ClientTile name={clientName} logoId={clientLogoId} />
        <p class="identity-text">
          <bdi class="identity-name">{clientName}</bdi> <SandboxBadge of={{ environment }} />{' '}
          <span class="portal-owner">
            Webhook portal, <bdi>{ownerName}</bdi>
          </span>
        </p>
        <PostButton action="/portal/logout" look="quiet">
          Log out
        </PostButton>
      </section>
      <GroupedNavigation label="Webhook portal" groups={groupsFor(environment)} current={part} />
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
        {user && (
          <>
            {' '}
            You are logged in as <bdi>{user.name}</bdi>, with the role {role}.{' '}
            <a href={SIGN_IN_PATH}>All clients</a>
          </>
        )}
      </p>
    </Permissions.Provider>
  ),
});
