import type { ComponentChildren, VNode } from 'preact';
import { say } from '#platform/language/text.js';
import { LogoutButton, SignedInAs, type LayoutProps } from '#platform/web/layout/layout.js';
import { RecentMoment, TIMES_SCRIPT } from '#platform/web/tables/moment.js';
import { Navigation } from '#platform/web/layout/navigation.js';
import { DoneNotice } from '#platform/web/layout/notices.js';
import { useText } from '#platform/web/layout/say.js';

/** The sections; a page without a place of its own is reached from the first page of its section. */
const PARTS = [
  { part: 'sharing', href: '/account', label: say('Sharing') },
  { part: 'notifications', href: '/account/notifications', label: say('Notifications') },
  { part: 'security', href: '/account/security', label: say('Security') },
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

interface RowLink {
  href: string;
  label: string;
  about: string;
}

/** Pages of a section, each in a row. */
export const RowLinks = ({ links }: { links: readonly RowLink[] }): VNode => (
  <ul class="rows" role="list">
    {links.map(({ href, label, about }) => (
      <li>
        <h2 class="row-title">
          <a href={href}>{label}</a>
        </h2>
        <span class="arrow" aria-hidden="true">
          →
        </span>
        <p class="row-outcome">{about}</p>
      </li>
    ))}
  </ul>
);

export interface OpeningRowProps {
  /** A heading, `row-title`. */
  title: ComponentChildren;
  /** What marks the row. */
  mark?: string | false;
  at?: Date;
  /** Beside a title that names a setting: what is chosen. */
  value?: string;
  /** Once it is opened: all about it, and what can be done with it. */
  children: ComponentChildren;
}

/** What it is and when, in a row that opens. */
export const OpeningRow = ({ title, mark, at, value, children }: OpeningRowProps): VNode => (
  <li class="opening">
    <details>
      <summary>
        {title} {mark && <span class="badge">{mark}</span>}{' '}
        <span class="row-time">
          {value}
          {at && <RecentMoment at={at} />}
        </span>
      </summary>
      {children}
    </details>
  </li>
);

interface Surroundings {
  user: { name: string; email: string };
  /** A message. */
  notice: string | undefined;
}

/** The navigation, the page itself, and who is logged in. */
export const accountLayout = (
  { title, part, scripts = [], showsOnce, children }: AccountPage,
  user: Surroundings['user'],
  notice: string | undefined,
): LayoutProps => ({
  title,
  width: 'wide',
  scripts: [TIMES_SCRIPT, ...scripts],
  showsOnce,
  isTranslated: true,
  children: (
    <InAccount title={title} part={part} user={user} notice={notice}>
      {children}
    </InAccount>
  ),
});

function InAccount(props: Omit<AccountPage, 'scripts' | 'showsOnce'> & Surroundings): VNode {
  const { title, part, user, notice, children } = props;
  const t = useText();
  return (
    <>
      <Navigation
        class="area-nav"
        label={t('Your account')}
        links={PARTS.map((each) => ({ ...each, label: t(each.label) }))}
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
