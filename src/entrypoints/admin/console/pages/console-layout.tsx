import { type ComponentChildren, createContext, type VNode } from 'preact';
import { LogoutButton, type LayoutProps } from '#platform/web/layout/layout.js';
import type { OperatorRole } from '#platform/config/operator-role.js';
import type { SignedInUser } from '#access/users/sessions/signed-in-user.js';
import { Permissions, type MayUse } from '#platform/web/layout/may-use.js';
import { AreaParts, SideNavigation, type AddedPart, type Counts } from '#platform/web/layout/navigation.js';
import { DoneNotice } from '#platform/web/layout/notices.js';
import { PageHead, type ParentPage } from '#platform/web/layout/page-head.js';
import { SEARCH_PATH } from './resource-link.js';
import { TIMES_SCRIPT } from '#platform/web/tables/moment.js';
import { useContext } from 'preact/hooks';
import { UserMenu } from '#platform/web/layout/user-menu.js';

/** The role with which the page is shown. */
const RoleOfVisitor = createContext<OperatorRole>('admin');

/** A part of a form that only admins see. */
export function ForAdmins({ children }: { children: ComponentChildren }): VNode | null {
  return useContext(RoleOfVisitor) === 'admin' ? <>{children}</> : null;
}

/** An action on a user in a list; hidden from non-admins if the user counts as an operator. */
export function ActionOn(props: { isOperator: boolean; children: ComponentChildren }): VNode | null {
  const role = useContext(RoleOfVisitor);
  return role === 'admin' || !props.isOperator ? <>{props.children}</> : null;
}

const GROUPS = [
  {
    heading: 'At a glance',
    links: [
      { part: 'overview', icon: 'layout-dashboard', href: '/admin/console', label: 'Overview' },
      { part: 'search', icon: 'search', href: SEARCH_PATH, label: 'Search', key: '/' },
      { part: 'audit', icon: 'scroll-text', href: '/admin/console/audit', label: 'Audit log' },
    ],
  },
  {
    heading: 'Access',
    links: [
      { part: 'clients', icon: 'app-window', href: '/admin/console/clients', label: 'Clients' },
      { part: 'users', icon: 'users', href: '/admin/console/users', label: 'Users' },
      { part: 'scopes', icon: 'shield-check', href: '/admin/console/scopes', label: 'Scopes' },
      { part: 'purposes', icon: 'target', href: '/admin/console/purposes', label: 'Purposes' },
    ],
  },
  {
    heading: 'Webhooks',
    links: [
      { part: 'event-types', icon: 'shapes', href: '/admin/console/event-types', label: 'Event types' },
      { part: 'endpoints', icon: 'webhook', href: '/admin/console/endpoints', label: 'Endpoints' },
      { part: 'deliveries', icon: 'send', href: '/admin/console/deliveries', label: 'Deliveries' },
    ],
  },
  {
    heading: 'Messages',
    links: [
      { part: 'notifications', icon: 'bell', href: '/admin/console/notifications', label: 'Notifications' },
      { part: 'mails', icon: 'mail', href: '/admin/console/mails', label: 'Mails' },
    ],
  },
  {
    heading: 'To decide',
    links: [],
  },
] as const;

/** The parts of the console. */
export const CONSOLE_PARTS = new AreaParts(GROUPS);

type ConsolePart = (typeof GROUPS)[number]['links'][number]['part'] | AddedPart;

/** One page of the console. */
export interface ConsolePage {
  title: string;
  /** Undefined for pages outside of the navigation, such as errors. */
  part?: ConsolePart;
  /** The parent pages, the nearest last. */
  above?: ParentPage[];
  /** The actions at the top of the page. */
  actions?: ComponentChildren;
  /** Whether it is about an operator, whom only admins may change. */
  isAboutOperator?: boolean;
  /** Further scripts. */
  scripts?: string[];
  /** Shown in place of the console page. */
  preview?: LayoutProps;
  children: ComponentChildren;
}

/** The navigation, the page itself, and who is logged in. */
export const consoleLayout = (
  { title, part, above, actions, scripts = [], children }: ConsolePage,
  user: Pick<SignedInUser, 'name' | 'email' | 'operatorRole'>,
  { role, mayUse }: { role: OperatorRole; mayUse: MayUse },
  notice: string | undefined,
  counts: Counts,
): LayoutProps => ({
  title: `${title} · Console`,
  hasActions: Boolean(actions),
  width: 'full',
  side: (
    <>
      <SideNavigation label="Console" groups={CONSOLE_PARTS.groups} current={part} counts={counts} />
      <UserMenu label="Logged in user" name={user.name}>
        <p>
          <bdi>{user.email}</bdi> ({user.operatorRole})
        </p>
        <a href="/account">Your account</a>
        <LogoutButton look="link-button" />
      </UserMenu>
    </>
  ),
  scripts: ['/assets/page.js', TIMES_SCRIPT, ...scripts],
  footer: 'operator console',
  children: (
    <Permissions.Provider value={mayUse}>
      <RoleOfVisitor.Provider value={role}>
        <div class="console">
          <PageHead above={above} heading={<bdi>{title}</bdi>} actions={actions} />
          <DoneNotice notice={notice} />
          {children}
        </div>
      </RoleOfVisitor.Provider>
    </Permissions.Provider>
  ),
});
