import type { VNode } from 'preact';
import type { UserEntity } from '../../../users/user.entity.js';
import { Navigation } from '../../../http/pages/navigation.js';
import { renderConsolePage, type ConsolePageProps } from '../pages/console-layout.js';

export const USERS_PATH = '/admin/console/users';

export const userPath = (id: string, part = ''): string => `${USERS_PATH}/${id}${part && `/${part}`}`;

/** The pages about one user. */
const PARTS = {
  '': 'User',
  applications: 'Applications',
  grants: 'Active grants',
} as const;

export interface UserPageProps extends Omit<ConsolePageProps, 'title' | 'part' | 'above'> {
  user: UserEntity;
  title?: string;
  part?: keyof typeof PARTS;
}

/** A page about one user: the name, and links to the other pages about this user. */
export function renderUserPage({ user, title, part, children, ...page }: UserPageProps): string {
  return renderConsolePage({
    ...page,
    part: 'users',
    title: title ?? user.name,
    above: [
      { href: USERS_PATH, label: 'Users' },
      ...(title === undefined ? [] : [{ href: userPath(user.id), label: user.name }]),
    ],
    children: (
      <>
        {part !== undefined && <UserNavigation user={user} current={part} />}
        {children}
      </>
    ),
  });
}

function UserNavigation({ user, current }: { user: UserEntity; current: string }): VNode {
  const links = [
    ...Object.entries(PARTS).map(([part, label]) => ({ part, label, href: userPath(user.id, part) })),
    {
      part: 'notifications',
      label: 'Notifications',
      href: `/admin/console/notifications?user_id=${user.id}`,
    },
    { part: 'done', label: 'Actions', href: `/admin/console/audit?actor=${user.id}` },
    { part: 'audit', label: 'Audit log', href: `/admin/console/audit?subject=${user.id}` },
  ];
  return <Navigation class="sub-nav" label={`About ${user.name}`} links={links} current={current} />;
}
