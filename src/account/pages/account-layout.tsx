import type { ComponentChildren } from 'preact';
import { LogoutButton, SignedInAs, type LayoutProps } from '../../web/layout/layout.js';
import { Navigation } from '../../web/layout/navigation.js';
import { DoneNotice } from '../../web/layout/notices.js';

const PARTS = [
  { part: 'applications', href: '/account', label: 'Applications' },
  { part: 'notifications', href: '/account/notifications', label: 'Notifications' },
  { part: 'email', href: '/account/email', label: 'Email' },
  { part: 'password', href: '/account/password', label: 'Password' },
  { part: 'security', href: '/account/security', label: 'Security' },
  { part: 'sessions', href: '/account/sessions', label: 'Sessions' },
] as const;

/** One page of the account; those about leaving are in no part of the navigation. */
export interface AccountPage {
  title: string;
  part: (typeof PARTS)[number]['part'] | 'leaving';
  /** Scripts of this service that enhance the page. */
  scripts?: string[];
  children: ComponentChildren;
}

/** The navigation, the page itself, and who is logged in. */
export const accountLayout = (
  { title, part, scripts, children }: AccountPage,
  { name, email }: { name: string; email: string },
  { notice, withPassword }: { notice: string | undefined; withPassword: boolean },
): LayoutProps => ({
  title,
  width: 'wide',
  scripts,
  children: (
    <>
      <Navigation
        class="area-nav"
        label="Your account"
        links={withPassword ? PARTS : PARTS.filter((each) => each.part !== 'password')}
        current={part}
      />
      <h1>{title}</h1>
      <DoneNotice notice={notice} />
      {children}
      <section class="account-identity" aria-label="Logged in user">
        <SignedInAs name={name} email={email} />
        <LogoutButton />
      </section>
    </>
  ),
});
