import type { ComponentChildren, VNode } from 'preact';
import { say } from '#platform/language/text.js';
import { LogoutButton, SignedInAs, type LayoutProps } from '#platform/web/layout/layout.js';
import { TIMES_SCRIPT } from '#platform/web/tables/moment.js';
import { Navigation } from '#platform/web/layout/navigation.js';
import { DoneNotice } from '#platform/web/layout/notices.js';
import { useText } from '#platform/web/layout/say.js';

const PARTS = [
  { part: 'applications', href: '/account', label: say('Applications') },
  { part: 'notifications', href: '/account/notifications', label: say('Notifications') },
  { part: 'email', href: '/account/email', label: say('Email') },
  { part: 'password', href: '/account/password', label: say('Password') },
  { part: 'security', href: '/account/security', label: say('Security') },
  { part: 'sessions', href: '/account/sessions', label: say('Sessions') },
] as const;

/** One page of the account; pages about leaving are not in the navigation. */
export interface AccountPage {
  /** A message, like all texts of the page. */
  title: string;
  part: (typeof PARTS)[number]['part'] | 'leaving';
  /** Scripts of this service that enhance the page. */
  scripts?: string[];
  /** It shows something that is shown only once. */
  showsOnce?: boolean;
  children: ComponentChildren;
}

interface Surroundings {
  user: { name: string; email: string };
  /** A message. */
  notice: string | undefined;
  withPassword: boolean;
}

/** The navigation, the page itself, and who is logged in. */
export const accountLayout = (
  { title, part, scripts = [], showsOnce, children }: AccountPage,
  user: Surroundings['user'],
  { notice, withPassword }: Omit<Surroundings, 'user'>,
): LayoutProps => ({
  title,
  width: 'wide',
  scripts: [TIMES_SCRIPT, ...scripts],
  showsOnce,
  isTranslated: true,
  children: (
    <InAccount title={title} part={part} user={user} notice={notice} withPassword={withPassword}>
      {children}
    </InAccount>
  ),
});

function InAccount(props: Omit<AccountPage, 'scripts' | 'showsOnce'> & Surroundings): VNode {
  const { title, part, user, notice, withPassword, children } = props;
  const t = useText();
  const parts = withPassword ? PARTS : PARTS.filter((each) => each.part !== 'password');
  return (
    <>
      <Navigation
        class="area-nav"
        label={t('Your account')}
        links={parts.map((each) => ({ ...each, label: t(each.label) }))}
        current={part}
      />
      <h1>{t(title)}</h1>
      <DoneNotice notice={notice && t(notice)} />
      {children}
      <section class="account-identity" aria-label={t('Logged in user')}>
        <SignedInAs name={user.name} email={user.email} />
        <LogoutButton />
      </section>
    </>
  );
}
