import type { ComponentChildren, VNode } from 'preact';
import { CsrfField } from '../../../http/pages/csrf-field.js';
import { Layout, renderPage } from '../../../http/pages/layout.js';

/** What stands around every page of the console. */
export interface ConsoleFrame {
  user: { name: string; email: string };
  logoutToken: string;
  /** What was just done. */
  notice?: string;
}

const PARTS = {
  overview: { href: '/admin/console', label: 'Overview' },
  clients: { href: '/admin/console/clients', label: 'Clients' },
  users: { href: '/admin/console/users', label: 'Users' },
  scopes: { href: '/admin/console/scopes', label: 'Scopes' },
  'event-types': { href: '/admin/console/event-types', label: 'Event types' },
  endpoints: { href: '/admin/console/endpoints', label: 'Endpoints' },
  deliveries: { href: '/admin/console/deliveries', label: 'Deliveries' },
  notifications: { href: '/admin/console/notifications', label: 'Notifications' },
  audit: { href: '/admin/console/audit', label: 'Audit trail' },
} as const;

export type ConsolePart = keyof typeof PARTS;

export interface ConsolePageProps {
  frame: ConsoleFrame;
  title: string;
  part: ConsolePart;
  /** The pages above this one, the nearest last. */
  above?: { href: string; label: string }[];
  /** What can be done here. */
  actions?: ComponentChildren;
  children: ComponentChildren;
}

/** One page of the console: the way to its parts, the page itself, and who is signed in. */
export function renderConsolePage({
  frame,
  title,
  part,
  above = [],
  actions,
  children,
}: ConsolePageProps): string {
  const { user, logoutToken, notice } = frame;
  return renderPage(
    <Layout
      title={`${title} · Console`}
      width="full"
      styleSheet="/assets/console.css"
      footer="operators' console"
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
        <section class="console-identity" aria-label="Signed in">
          <p>
            Signed in as <bdi class="name">{user.name}</bdi> <bdi class="muted">{user.email}</bdi>
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

function Navigation({ current }: { current: ConsolePart }): VNode {
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
    <nav class="console-above" aria-label="Above this page">
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
