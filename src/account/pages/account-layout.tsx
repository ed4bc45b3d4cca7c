import type { ComponentChildren } from 'preact';
import { CsrfField } from '../../http/pages/csrf-field.js';
import { Layout, renderPage, SignedInAs } from '../../http/pages/layout.js';
import { DoneNotice } from '../../http/pages/notices.js';
import { Navigation } from '../../http/pages/navigation.js';
import type { UserLayoutProps } from '../../users/user-page-context.js';

const PARTS = [
  { part: 'applications', href: '/account', label: 'Applications' },
  { part: 'notifications', href: '/account/notifications', label: 'Notifications' },
  { part: 'password', href: '/account/password', label: 'Password' },
  { part: 'sessions', href: '/account/sessions', label: 'Sessions' },
] as const;

export interface AccountPageProps extends UserLayoutProps {
  title: string;
  part: (typeof PARTS)[number]['part'];
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
      <Navigation class="account-nav" label="Your account" links={PARTS} current={part} />
      <h1>{title}</h1>
      <DoneNotice notice={notice} />
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
