import type { ComponentChildren, VNode } from 'preact';
import { CsrfField } from '../../../http/pages/csrf-field.js';
import { Layout, renderPage } from '../../../http/pages/layout.js';
import type { UserLayoutProps } from '../../../users/user-page-context.js';

const PAGE_SCRIPT = '/assets/page.js';

const PARTS = {
  overview: { href: '/admin/console', label: 'Overview' },
  clients: { href: '/admin/console/clients', label: 'Clients' },
  users: { href: '/admin/console/users', label: 'Users' },
  scopes: { href: '/admin/console/scopes', label: 'Scopes' },
  'event-types': { href: '/admin/console/event-types', label: 'Event types' },
  endpoints: { href: '/admin/console/endpoints', label: 'Endpoints' },
  deliveries: { href: '/admin/console/deliveries', label: 'Deliveries' },
  notifications: { href: '/admin/console/notifications', label: 'Notifications' },
  audit: { href: '/admin/console/audit', label: 'Audit log' },
} as const;

type ConsolePart = keyof typeof PARTS;

export interface ConsolePageProps {
  layoutProps: UserLayoutProps;
  title: string;
  /** Undefined for pages that belong to no part, such as errors. */
  part?: ConsolePart;
  /** The parent pages, the nearest last. */
  above?: { href: string; label: string }[];
  /** The actions at the top of the page. */
  actions?: ComponentChildren;
  /** Whether a script of this service enhances the page. */
  withScript?: boolean;
  children: ComponentChildren;
}

/** One page of the console: the navigation, the page itself, and who is logged in. */
export function renderConsolePage({
  layoutProps,
  title,
  part,
  above = [],
  actions,
  withScript,
  children,
}: ConsolePageProps): string {
  const { user, logoutToken, notice } = layoutProps;
  return renderPage(
    <Layout
      title={`${title} · Console`}
      width="full"
      styleSheet="/assets/console.css"
      scripts={withScript ? [PAGE_SCRIPT] : []}
      footer="operator console"
    >
      <div class="console">
        <Navigation current={part} />
        <div class="console-head">
          <div class="console-title">
            {above.length > 0 && <Above pages={above} />}
            <h1>
              <bdi>{title}</bdi>
            </h1>
          </div>
          {actions && <div class="console-actions">{actions}</div>}
        </div>
        {notice && (
          <p class="notice" role="status">
            {notice}
          </p>
        )}
        {children}
        <section class="console-identity" aria-label="Logged in user">
          <p>
            Logged in as <bdi class="name">{user.name}</bdi> <bdi class="muted">{user.email}</bdi>
          </p>
          <a href="/account">Your account</a>
          <form method="post" action="/logout">
            <CsrfField token={logoutToken} />
            <button type="submit" class="link-button">
              Log out
            </button>
          </form>
        </section>
      </div>
    </Layout>,
  );
}

function Navigation({ current }: { current?: ConsolePart }): VNode {
  return (
    <nav class="console-nav" aria-label="Console">
      <ul role="list">
        {Object.entries(PARTS).map(([part, { href, label }]) => (
          <li>
            <a href={href} {...(part === current ? { 'aria-current': 'page' as const } : {})}>
              {label}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Above({ pages }: { pages: { href: string; label: string }[] }): VNode {
  return (
    <nav class="console-above" aria-label="Breadcrumb">
      {pages.map(({ href, label }) => (
        <>
          <a href={href}>
            <bdi>{label}</bdi>
          </a>
          <span aria-hidden="true"> / </span>
        </>
      ))}
    </nav>
  );
}
