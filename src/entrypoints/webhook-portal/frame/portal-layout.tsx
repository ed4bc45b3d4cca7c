import type { ComponentChildren, VNode } from 'preact';
import { PostButton } from '#platform/web/forms/form.js';
import { ClientTile } from '#platform/web/layout/client-identity.js';
import type { LayoutProps } from '#platform/web/layout/layout.js';
import { LIVE_LIST_SCRIPT } from '#platform/web/tables/live-list.js';
import { Moment } from '#platform/web/tables/moment.js';
import {
  AreaParts,
  CountBadge,
  SideNavigation,
  type AddedPart,
  type NavigationGroup,
} from '#platform/web/layout/navigation.js';
import { SandboxBadge } from '#platform/web/layout/sandbox-badge.js';
import { DoneNotice } from '#platform/web/layout/notices.js';
import { PageHead, type ParentPage } from '#platform/web/layout/page-head.js';
import { Permissions, type MayUse } from '#platform/web/layout/may-use.js';
import type { OpenableClient, Portals } from '../access/member-sessions.repository.js';
import type { PortalVisitor } from '../access/portal-visitor.js';
import { UserMenu } from '#platform/web/layout/user-menu.js';
import { TIMES_SCRIPT } from '#platform/web/tables/moment.js';

/** Where members open portals. */
export const PORTAL_SIGN_IN_PATH = '/portal/sign-in';
/** The name that the forms on that page are bound to. */
export const PORTAL_SIGN_IN_AREA = 'portal_sign_in';

/** The footer of every portal page, including those shown before the login. */
export const PORTAL_FOOTER = 'webhook portal';

export const SEARCH_PATH = '/portal/search';

const GROUPS = [
  {
    heading: 'At a glance',
    links: [
      { part: 'endpoints', icon: 'webhook', href: '/portal', label: 'Overview' },
      { part: 'search', icon: 'search', href: SEARCH_PATH, label: 'Search', key: '/' },
    ],
  },
  {
    heading: 'Webhooks',
    links: [{ part: 'deliveries', icon: 'send', href: '/portal/deliveries', label: 'Deliveries' }],
  },
  {
    heading: 'Build and test',
    links: [
      { part: 'catalogue', icon: 'shapes', href: '/portal/event_types', label: 'Event catalogue' },
      { part: 'sandbox', icon: 'flask-conical', href: '/portal/sandbox', label: 'Sandbox' },
      { part: 'verify', icon: 'badge-check', href: '/portal/verify', label: 'Verify signatures' },
    ],
  },
  {
    heading: 'Client',
    links: [
      { part: 'credentials', icon: 'key-round', href: '/portal/credentials', label: 'Credentials' },
      { part: 'members', icon: 'users', href: '/portal/members', label: 'Members' },
    ],
  },
  {
    heading: 'Use of the API',
    links: [
      { part: 'requests', icon: 'arrow-left-right', href: '/portal/requests', label: 'Requests' },
      { part: 'refusals', icon: 'ban', href: '/portal/refusals', label: 'Refusals' },
      { part: 'usage', icon: 'gauge', href: '/portal/usage', label: 'Usage' },
    ],
  },
] as const;

/** The parts of the portal. */
export const PORTAL_PARTS = new AreaParts(GROUPS);

const groupsFor = (environment: PortalVisitor['environment']): readonly NavigationGroup[] =>
  environment === 'sandbox'
    ? PORTAL_PARTS.groups
    : PORTAL_PARTS.groups.map(({ heading, links }) => ({
        heading,
        links: links.filter(({ part }) => part !== 'sandbox'),
      }));

/** One page of the portal. */
export interface PortalPage {
  title: string;
  /** The heading, if it differs from the title. */
  heading?: ComponentChildren;
  part: (typeof GROUPS)[number]['links'][number]['part'] | AddedPart;
  /** The parent pages, the nearest last. */
  above?: ParentPage[];
  /** The actions at the top of the page. */
  actions?: ComponentChildren;
  /** Whether it has actions elsewhere, in an element with the id that a link skips to. */
  hasActions?: boolean;
  refreshAfter?: number;
  /** Whether a list on it updates itself. */
  isLive?: boolean;
  children: ComponentChildren;
}

/** The portal's owner, the navigation, and the page itself. */
export const portalLayout = (
  { title, heading, part, above, actions, hasActions, refreshAfter, isLive, children }: PortalPage,
  { clientId, clientName, clientLogoId, environment, ownerName, expiresAt, role, user }: PortalVisitor,
  portals: Portals,
  notice: string | undefined,
  mayUse: MayUse,
): LayoutProps => ({
  title: `${title} · Webhook portal`,
  hasActions: hasActions ?? Boolean(actions),
  width: 'broad',
  scripts: ['/assets/page.js', TIMES_SCRIPT, '/assets/portal.js', ...(isLive ? [LIVE_LIST_SCRIPT] : [])],
  refreshAfter,
  footer: PORTAL_FOOTER,
  side: (
    <>
      <section class="portal-bar" aria-label="Portal owner">
        <ClientTile name={clientName} logoId={clientLogoId} />
        <p class="identity-text">
          <bdi class="identity-name">{clientName}</bdi> <SandboxBadge of={{ environment }} />{' '}
          <span class="portal-owner">
            <span>Webhook portal, </span>
            <bdi>{ownerName}</bdi>
          </span>
        </p>
      </section>
      <SideNavigation
        label="Webhook portal"
        groups={groupsFor(environment)}
        current={part}
        counts={{ endpoints: { number: portals.failing, word: 'failing' } }}
      />
      <UserMenu label="Session" name={user?.name}>
        {user && <p>With the role {role}</p>}
        <OtherPortals clients={portals.others} />
        <p>
          Client ID <code>{clientId}</code>
        </p>
        <p>
          This session expires on <Moment at={expiresAt} />.
        </p>
        {user && <a href={PORTAL_SIGN_IN_PATH}>All clients</a>}
        <PostButton action="/portal/logout" look="link-button">
          Log out
        </PostButton>
      </UserMenu>
    </>
  ),
  children: (
    <Permissions.Provider value={mayUse}>
      <PageHead above={above} heading={heading ?? title} actions={actions} />
      {/* The notice disappears when the page reloads itself. */}
      <div data-live>
        <DoneNotice notice={notice} />
      </div>
      {children}
    </Permissions.Provider>
  ),
});

/** The other clients of the visitor's organisations, each with a button that opens its portal. */
function OtherPortals({ clients }: { clients: OpenableClient[] }): VNode | null {
  if (clients.length === 0) return null;
  return (
    <>
      <p class="muted" id="switch-client">
        Switch client
      </p>
      <ul class="plain switch-client" role="list" aria-labelledby="switch-client">
        {clients.map(({ id, name, organisationName, environment, failing }) => (
          <li>
            <PostButton action={`${PORTAL_SIGN_IN_PATH}/${id}`} look="link-button">
              <span class="visually-hidden">Switch to </span>
              <bdi>{name}</bdi>
              {environment === 'sandbox' && <span class="visually-hidden"> in the sandbox</span>}
            </PostButton>{' '}
            <SandboxBadge of={{ environment }} />
            <CountBadge count={{ number: failing, word: 'failing' }} />
            <bdi class="under muted">{organisationName}</bdi>
          </li>
        ))}
      </ul>
    </>
  );
}
