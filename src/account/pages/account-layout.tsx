import type { ComponentChildren, VNode } from 'preact';
import { CsrfField } from '../../http/pages/csrf-field.js';
import { Layout, renderPage, SignedInAs } from '../../http/pages/layout.js';
import type { UserLayoutProps } from '../../users/user-page-context.js';

const PARTS = {
  applications: { href: '/account', label: 'Applications' },
  notifications: { href: '/account/notifications', label: 'Notifications' },
  password: { href: '/account/password', label: 'Password' },
  sessions: { href: '/account/sessions', label: 'Sessions' },
} as const;

export interface AccountPageProps extends UserLayoutProps {
  title: string;
  part: keyof typeof PARTS;
  children: ComponentChildren;
}

/** One account page: the navigation, the page itself, and who is logged in. */
export function renderAccountPage({
  title,
  part,
  user,
  logoutToken,
  notice,
  children,
}: AccountPageProps): string {
  return renderPage(
    <Layout title={title} width="wide">
      <AccountNavigation current={part} />
      <h1>{title}</h1>
      {notice && (
        <p class="notice" role="status">
          {notice}
        </p>
      )}
      {children}
      <section class="account-identity" aria-label="Logged in user">
        <SignedInAs {...user} />
        <form method="post" action="/logout">
          <CsrfField token={logoutToken} />
          <button type="submit" class="quiet">
            Log out
          </button>
        </form>
      </section>
    </Layout>,
  );
}

function AccountNavigation({ current }: { current: keyof typeof PARTS }): VNode {
  return (
    <nav class="account-nav" aria-label="Your account">
      {/* Safari drops list semantics from lists without markers unless the role is given. */}
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
